package parallel

import (
	"go/token"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/internal/knowledge"
	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
	"github.com/interlock-go/interlock/analyzers/pass/callgraph"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
	"github.com/interlock-go/interlock/analyzers/pass/lockset"
)

// Touch is an access to a variable that a function makes, itself or by a callee.
type Touch struct {
	Place Place // as the function reaches it
	Mode  finding.Mode
	// Instr makes the access, in function Fn, at address Addr.
	Instr ssa.Instruction
	Fn    *ssa.Function
	Addr  ssa.Value

	calls int             // that lead to it
	at    ssa.Instruction // the instruction of the function that makes it or leads to it
	locks []held
	// What the callees down to Instr have waited for before, and may give afterwards.
	after, then []signal
	// tests are the variables by which branches decide whether it is made.
	tests []Place
	fills bool // it is a store where the variable was found nil
}

// held is a lock that is held at a touch.
type held struct {
	path  accesspath.Path
	class string
	read  bool
}

// strand is the goroutines that one place starts, as far as the function knows
// what they access.
type strand struct {
	at      ssa.CallInstruction // the go statement, or the call that leads to it
	start   ssa.CallInstruction // the go statement
	touches []*Touch
	syncs   syncs // all that it waits for or signals, in no order
	depth   int   // calls and go statements that lead from the function to start
	subtest bool  // a parallel subtest, which waits until its starter has returned
}

// summary is what a caller sees of a function.
type summary struct {
	touches []*Touch
	strands []*strand // that may go on when the function returns
	must    []signal  // waited for on every way to a return
	all     syncs     // waited for, and given, on some way
	handed  []held    // locks that it releases for its caller
}

// frame is a function that is being summed up.
type frame struct {
	*builder
	fn   *ssa.Function
	flow *ir.Flow
	work *ir.Work

	ops      []op
	at       map[ssa.Instruction]syncs
	entered  map[*ssa.BasicBlock][]signal // waited for by cases of selects, and in each round of the loop
	locks    map[ssa.Instruction][]held
	touches  []*Touch
	strands  []*strand
	deferred []op // in the order of the source
	entry    entry
	passed   map[ssa.Instruction][]signal // memo of after
	joins    map[*ssa.BasicBlock][]signal // memo of merged
	coming   map[ssa.Instruction][]signal // memo of then
	lists    [][]signal                   // see once
	tested   map[*ssa.BasicBlock][]Place  // memo of tests
}

// op is an instruction that synchronises.
type op struct {
	instr ssa.Instruction
	syncs
}

// sum sums up fn, and judges its goroutines.
func (b *builder) sum(fn *ssa.Function, work *ir.Work) {
	f := &frame{builder: b, fn: fn, flow: b.prog.Flow(fn), work: work,
		at: map[ssa.Instruction]syncs{}, entered: map[*ssa.BasicBlock][]signal{},
		passed: map[ssa.Instruction][]signal{}, joins: map[*ssa.BasicBlock][]signal{},
		coming: map[ssa.Instruction][]signal{},
		tested: map[*ssa.BasicBlock][]Place{}}
	// The locks at each instruction, as far as fn has taken them itself.
	var atReturn []held
	f.locks, atReturn = b.ownLocks(fn)
	// What each instruction waits for and signals, then what is accessed, and started.
	f.findSyncs()
	for _, block := range fn.Blocks {
		for _, instr := range block.Instrs {
			f.instruction(instr)
		}
	}
	f.limit()
	f.judge()
	b.summaries[fn] = f.summary(atReturn)
}

// ownLocks returns the locks that fn may have taken itself at each instruction, and
// those that it releases for its caller.
func (b *builder) ownLocks(fn *ssa.Function) (at map[ssa.Instruction][]held, handed []held) {
	at = map[ssa.Instruction][]held{}
	b.lockset.WalkOwn(fn, func(instr ssa.Instruction, s *lockset.State) {
		_, isReturn := instr.(*ssa.Return)
		if !isReturn && !touches(instr) {
			return
		}
		for _, h := range slices.Concat(s.Held(), s.Turns()) {
			at[instr] = append(at[instr], held{h.Path, h.Class, h.Read})
		}
		for _, k := range s.Known() {
			switch h := (held{k.Path, k.Class, false}); {
			case k.Unclear():
				at[instr] = append(at[instr], h)
			case isReturn && k.Released() && !slices.Contains(handed, h):
				handed = append(handed, h)
			}
		}
	})
	return at, handed
}

// touches reports whether an instruction may access memory or call.
func touches(instr ssa.Instruction) bool {
	switch instr.(type) {
	case *ssa.UnOp, *ssa.Store, *ssa.MapUpdate, *ssa.Lookup, *ssa.Range, ssa.CallInstruction, *ssa.RunDefers:
		return true
	}
	return false
}

// findSyncs notes what instructions wait for and give: deferred calls do where
// they run, and a loop waits at its head for what each round waits for, as one that
// receives n times does.
func (f *frame) findSyncs() {
	// On the way into a block, and in it.
	for _, b := range f.fn.Blocks {
		if waits := caseSyncs(ir.Selected(b)); waits != nil {
			f.entered[b] = add(f.entered[b], waits...)
		}
		if on := stopped(b); on != nil {
			f.entered[b] = add(f.entered[b], signalOf(halted, on))
		}
		for _, instr := range b.Instrs {
			switch instr := instr.(type) {
			case *ssa.Defer:
				if s := f.callSyncs(instr); !s.empty() {
					f.deferred = append(f.deferred, op{instr, s})
				}
			case *ssa.Go:
			case ssa.CallInstruction:
				f.note(instr, f.callSyncs(instr))
			default:
				f.note(instr, syncsOf(instr))
			}
		}
	}
	// At the end.
	for _, b := range f.fn.Blocks {
		for _, instr := range b.Instrs {
			if run, ok := instr.(*ssa.RunDefers); ok {
				f.note(run, f.atEnd(run))
			}
		}
	}
	f.hoist()
}

func (f *frame) note(instr ssa.Instruction, s syncs) {
	if !s.empty() {
		f.at[instr] = s
		f.ops = append(f.ops, op{instr, s})
	}
}

// atEnd returns what the deferred calls wait for that surely run at the end, and
// what those give that may run.
func (f *frame) atEnd(end *ssa.RunDefers) syncs {
	var s syncs
	for _, d := range f.deferred {
		if d.instr.Block().Dominates(end.Block()) {
			s.waits = add(s.waits, d.waits...)
		}
		s.gives = add(s.gives, d.gives...)
	}
	return s
}

// hoist has the heads of loops wait for what each round waits for, and the
// branches before them that may leave the loop out.
func (f *frame) hoist() {
	for _, latch := range f.fn.Blocks {
		for _, head := range latch.Succs {
			if !head.Dominates(latch) {
				continue
			}
			waits := f.eachRound(head, latch)
			if len(waits) == 0 {
				continue
			}
			f.entered[head] = add(f.entered[head], waits...)
			// Match `if 0 < n { for { …; if i < n { continue }; break } }`.
			for _, before := range head.Preds {
				last := before.Instrs[len(before.Instrs)-1]
				if _, branch := last.(*ssa.If); branch && !head.Dominates(before) && shareExit(before, latch) {
					f.at[last] = syncs{waits: add(f.at[last].waits, waits...)}
				}
			}
		}
	}
}

// eachRound returns what every round of a loop waits for.
func (f *frame) eachRound(head, latch *ssa.BasicBlock) []signal {
	f.work.Spend(len(f.ops) + len(f.entered))
	inside := func(b *ssa.BasicBlock) bool { return head.Dominates(b) && b.Dominates(latch) }
	var waits []signal
	for _, o := range f.ops {
		if len(o.waits) > 0 && inside(o.instr.Block()) {
			waits = add(waits, strong(o.waits)...)
		}
	}
	for b, entered := range f.entered {
		if b != head && inside(b) {
			waits = add(waits, strong(entered)...)
		}
	}
	return waits
}

func shareExit(a, b *ssa.BasicBlock) bool {
	return slices.ContainsFunc(a.Succs, func(s *ssa.BasicBlock) bool { return slices.Contains(b.Succs, s) })
}

func strong(list []signal) []signal {
	return slices.DeleteFunc(slices.Clone(list), signal.weak)
}

// callSyncs returns what a call waits for on every way through the callee, and
// what it may give.
func (f *frame) callSyncs(call ssa.CallInstruction) syncs {
	site, known := f.only(call)
	if !known {
		own := syncsOfCall(call.Common())
		own.waits = add(own.waits, f.polls(call)...)
		for _, s := range f.graph.At(call) { // a function handed to a known one, which calls it
			if sum := f.summaries[s.Callee]; sum != nil && s.Mode == callgraph.Call && s.Through != nil {
				own.gives = add(own.gives, newMapping(s).signals(sum.all.gives, true)...)
			}
		}
		return own
	}
	sum := f.summaries[site.Callee]
	if sum == nil {
		return syncs{[]signal{{sort: unknown}}, []signal{{sort: unknown}}} // a recursive call
	}
	m := newMapping(site)
	return syncs{waits: add(m.signals(sum.must, false), f.polls(call)...), gives: m.signals(sum.all.gives, true)}
}

// only returns the one function of the package that call runs at once, if it is
// known to run no other.
func (f *frame) only(call ssa.CallInstruction) (callgraph.Site, bool) {
	if f.lockset.Receiver(call) != nil { // an operation on a lock
		return callgraph.Site{}, false
	}
	sites := f.graph.At(call)
	if len(sites) != 1 || sites[0].Through != nil || len(sites[0].Callee.Blocks) == 0 {
		return callgraph.Site{}, false
	}
	return sites[0], true
}

// instruction adds what instr accesses and starts.
func (f *frame) instruction(instr ssa.Instruction) {
	for _, a := range accessesOf(instr) {
		if !f.takenOut(a.by, instr) {
			f.touches = append(f.touches, &Touch{Place: a.place, Mode: a.mode, Instr: instr, Fn: f.fn, Addr: a.addr,
				at: instr, locks: slices.Concat(f.locks[instr], won(instr.Block())), tests: f.tests(instr.Block()),
				fills: a.mode == finding.Write && accesspath.FoundNil(instr, a.place.Path)})
		}
	}
	call, ok := instr.(ssa.CallInstruction)
	if !ok {
		return
	}
	for _, s := range f.graph.At(call) {
		sum := f.summaries[s.Callee]
		if sum == nil {
			continue
		}
		if s.Mode == callgraph.Go {
			f.start(s, sum)
			continue
		}
		// A method of an interface that several types have may be any of them.
		if _, known := f.only(call); known || s.Through != nil {
			f.called(s, sum)
		}
	}
}

// takenOut reports whether a reference on the way to v was loaded under a lock
// that is not held any more at instr: what it leads to may have been swapped out.
func (f *frame) takenOut(v ssa.Value, instr ssa.Instruction) bool {
	for {
		switch x := v.(type) {
		case *ssa.FieldAddr:
			v = x.X
		case *ssa.IndexAddr:
			v = x.X
		case *ssa.UnOp:
			if slices.ContainsFunc(f.locks[x], func(h held) bool { return !slices.Contains(f.locks[instr], h) }) {
				return true
			}
			v = x.X
		default:
			return false
		}
	}
}

// tests lists the fields and package variables by which branches decide whether
// control comes to b.
func (f *frame) tests(b *ssa.BasicBlock) []Place {
	d := b.Idom()
	if d == nil {
		return nil
	}
	list, ok := f.tested[b]
	if ok {
		return list
	}
	// Those nearest to b first.
	if branch, ok := decides(d, b); ok {
		for _, load := range loadsOf(branch.Cond) {
			if path := shared(load); path.Root != nil {
				list = append(list, Place{path, itself, load.Type()})
			}
		}
	}
	list = append(list, f.tests(d)...)
	list = slices.Clip(list[:min(len(list), knowledge.TestsOfTouch)])
	f.tested[b] = list
	return list
}

// loadsOf lists what a condition is computed from.
func loadsOf(cond ssa.Value) []ssa.Value {
	switch x := cond.(type) {
	case *ssa.UnOp:
		if x.Op == token.MUL {
			return []ssa.Value{x}
		}
		return loadsOf(x.X)
	case *ssa.BinOp:
		return append(loadsOf(x.X), loadsOf(x.Y)...)
	case *ssa.Call: // an atomic
		if fn := x.Call.StaticCallee(); fn != nil && packageOf(ir.Origin(fn)) == "sync/atomic" && len(x.Call.Args) > 0 {
			return x.Call.Args[:1]
		}
	}
	return nil
}

// called adds what a callee accesses, and the goroutines that it leaves running.
func (f *frame) called(s callgraph.Site, sum *summary) {
	// A helper that runs the function under a lock: locked(&mu, func() { n++ }).
	if s.Through != nil && slices.ContainsFunc(s.Through.Blocks, f.locksIn) {
		return
	}
	m := newMapping(s)
	for _, at := range f.runs(s.Instr) {
		f.work.Spend(len(sum.touches))
		locks := slices.Concat(f.locks[at], won(at.Block()))
		for _, t := range sum.touches {
			if len(f.touches) >= knowledge.TouchesOfFunction {
				break
			}
			if moved := m.touch(t, at, locks); moved != nil {
				moved.calls++
				f.amongDefers(s.Instr, moved)
				moved.tests = append(moved.tests, f.tests(s.Instr.Block())...)
				f.touches = append(f.touches, moved)
			}
		}
	}
	if _, deferred := s.Instr.(*ssa.Defer); deferred {
		return
	}
	for _, st := range sum.strands {
		if st.subtest && s.Through != nil {
			continue // the callee is a test of its own, which waits for them
		}
		f.addStrand(m, st.touches, &strand{at: s.Instr, start: st.start, syncs: st.syncs, depth: st.depth + 1,
			subtest: st.subtest})
	}
}

// runs lists where a call runs: a deferred one at the ends of the function.
func (f *frame) runs(call ssa.CallInstruction) []ssa.Instruction {
	d, deferred := call.(*ssa.Defer)
	if !deferred {
		return []ssa.Instruction{call}
	}
	var ends []ssa.Instruction
	for _, b := range f.fn.Blocks {
		for _, instr := range b.Instrs {
			if _, ok := instr.(*ssa.RunDefers); ok && len(ends) < knowledge.EndsOfDefer && f.flow.Leads(d, instr) {
				ends = append(ends, instr)
			}
		}
	}
	return ends
}

// amongDefers adds to t, which a deferred call makes, what the calls wait for
// that are deferred after it, and so run before it, and what those give that are
// deferred before it.
func (f *frame) amongDefers(call ssa.CallInstruction, t *Touch) {
	d, ok := call.(*ssa.Defer)
	if !ok {
		return
	}
	for _, o := range f.deferred {
		if o.instr != d && f.flow.Leads(d, o.instr) {
			t.after = add(t.after, o.waits...)
		}
		if o.instr != d && f.flow.Leads(o.instr, d) {
			t.then = add(t.then, o.gives...)
		}
	}
}

// start adds the goroutine that s starts, and those that it starts in turn.
func (f *frame) start(s callgraph.Site, sum *summary) {
	if !knowledge.StartsAtOnce(throughName(s)) {
		return
	}
	if s.Through != nil && len(s.Through.Blocks) > 0 {
		if through := f.summaries[s.Through]; through == nil || len(through.must) > 0 {
			return // it may wait for what it starts
		}
	}
	if s.Through != nil && packageOf(s.Through) == "testing" && s.Through.Name() == "RunParallel" {
		return // it waits for all that it starts
	}
	m := newMapping(s)
	st := &strand{at: s.Instr, start: s.Instr, syncs: sum.all, subtest: callgraph.ParallelSubtest(s)}
	ended := endedBy(s)
	if slices.ContainsFunc(f.fn.Blocks, waitsForBubble) {
		ended = []signal{{sort: everything}}
	}
	begun := begunBy(s)
	touches := make([]*Touch, 0, len(sum.touches))
	for _, t := range sum.touches {
		moved := *t
		moved.after, moved.then = both(t.after, begun), both(t.then, ended)
		moved.locks = slices.Concat(t.locks, sum.handed)
		touches = append(touches, &moved)
	}
	f.addStrand(m, touches, st)
	for _, inner := range sum.strands {
		f.addStrand(m, inner.touches, &strand{at: s.Instr, start: inner.start, syncs: inner.syncs, depth: inner.depth + 1,
			subtest: st.subtest})
	}
}

// begunBy returns what a goroutine has waited for when it begins: context.AfterFunc starts it when somebody has
// canceled the context, by a function of which nothing is known.
func begunBy(s callgraph.Site) []signal {
	if throughName(s) == "context.AfterFunc" {
		return []signal{{sort: unknown}}
	}
	return nil
}

// endedBy returns what a goroutine signals behind the function that it runs. A helper that starts it
// may signal in any way then:
//
//	func (p *pool) Go(f func()) { p.wg.Add(1); go func() { defer p.wg.Done(); f() }() }
func endedBy(s callgraph.Site) []signal {
	switch group := groupOf(s); {
	case group != nil:
		return []signal{signalOf(done, group)}
	case runsLater(s):
		return []signal{signalOf(halted, s.Instr.(*ssa.Call))}
	case s.Through != nil && (len(s.Through.Blocks) > 0 || strings.Contains(packageOf(s.Through), ".")):
		return []signal{{sort: everything}} // not of the standard library, whose callbacks signal nothing
	}
	return nil
}

// runsLater reports whether the goroutine of s begins some time after, unless it is stopped before.
func runsLater(s callgraph.Site) bool {
	_, ok := s.Instr.(*ssa.Call)
	return ok && (throughName(s) == "context.AfterFunc" || throughName(s) == "time.AfterFunc")
}

// stopped returns the timer, or the function, by which a goroutine that has not begun was kept from doing so where
// control enters b: it has done nothing then.
//
//	stop := context.AfterFunc(ctx, f); …; if stop() { … }
//	timer := time.AfterFunc(d, f); …; if timer.Stop() { … }
func stopped(b *ssa.BasicBlock) ssa.Value {
	if len(b.Preds) != 1 || b.Preds[0].Succs[0] != b {
		return nil
	}
	branch, ok := b.Preds[0].Instrs[len(b.Preds[0].Instrs)-1].(*ssa.If)
	if !ok {
		return nil
	}
	call, ok := branch.Cond.(*ssa.Call)
	switch {
	case !ok:
		return nil
	case len(call.Call.Args) == 0 && !call.Call.IsInvoke():
		return call.Call.Value
	case call.Call.StaticCallee() != nil && call.Call.StaticCallee().String() == "(*time.Timer).Stop":
		return call.Call.Args[0]
	}
	return nil
}

// groupOf returns the WaitGroup or errgroup that s starts its goroutine by.
func groupOf(s callgraph.Site) ssa.Value {
	if s.Through == nil || s.Through.Signature.Recv() == nil || len(s.Instr.Common().Args) == 0 {
		return nil
	}
	switch packageOf(s.Through) {
	case "sync", "golang.org/x/sync/errgroup":
		return s.Instr.Common().Args[0]
	}
	return nil
}

func throughName(s callgraph.Site) string {
	if s.Through == nil {
		return ""
	}
	return packageOf(s.Through) + "." + s.Through.Name()
}

// addStrand adds st with the touches, those that the frame can name.
func (f *frame) addStrand(m mapping, touches []*Touch, st *strand) {
	if st.depth > knowledge.CallsToStart || len(f.strands) >= knowledge.StrandsOfFunction {
		return
	}
	for _, t := range touches {
		if moved := m.touch(t, st.at, nil); moved != nil {
			st.touches = append(st.touches, moved)
		}
	}
	st.syncs = syncs{m.signals(st.syncs.waits, true), m.signals(st.syncs.gives, true)}
	f.strands = append(f.strands, st)
}

// limit keeps the touches few: those alike are one, writes go before reads.
func (f *frame) limit() {
	f.touches = few(f.touches)
	for _, s := range f.strands {
		s.touches = few(s.touches)
	}
}

func few(list []*Touch) []*Touch {
	type key struct {
		place  Place
		writes bool
		at     ssa.Instruction
		locks  int
		after  int
	}
	seen := map[key]bool{}
	var kept []*Touch
	for _, writes := range []bool{true, false} {
		for _, t := range list {
			k := key{t.Place, t.writes(), t.at, len(t.locks), len(t.after)}
			if t.writes() == writes && !seen[k] && len(kept) < knowledge.TouchesOfStrand {
				seen[k] = true
				kept = append(kept, t)
			}
		}
	}
	return kept
}

func (t *Touch) writes() bool { return t.Mode == finding.Write || t.Mode == finding.AtomicWrite }

// summary is what the callers of the function see.
func (f *frame) summary(handed []held) *summary {
	sum := &summary{handed: handed}
	for _, t := range f.touches {
		if t.calls >= knowledge.CallsToTouch || !f.visible(t.Place.Path) {
			continue
		}
		out := *t
		out.after, out.then = f.once(both(t.after, f.after(t.at))), f.once(both(t.then, f.then(t.at)))
		sum.touches = append(sum.touches, &out)
	}
	for _, o := range f.ops {
		sum.all.waits, sum.all.gives = add(sum.all.waits, o.waits...), add(sum.all.gives, o.gives...)
	}
	for _, waits := range f.entered {
		sum.all.waits = add(sum.all.waits, waits...)
	}
	sum.must = f.surely()
	for _, s := range f.strands {
		if left := f.leaves(s); left != nil {
			sum.strands = append(sum.strands, left)
		}
	}
	return sum
}

// both returns the signals of two lists.
func both(a, b []signal) []signal {
	switch {
	case len(a) == 0:
		return b
	case len(b) == 0:
		return a
	}
	return add(slices.Clone(a), b...)
}

// visible reports whether a caller may have a name for the path.
func (f *frame) visible(p accesspath.Path) bool {
	switch p.Root.(type) {
	case *ssa.Global:
		return true
	}
	return p.Root.Parent() != f.fn || p.Param(f.fn) >= 0 || f.returned(p.Root) >= 0
}

// returned returns which result v is at every return; -1 if none.
func (f *frame) returned(v ssa.Value) int { return resultOf(f.fn, v) }

func resultOf(fn *ssa.Function, v ssa.Value) int {
	found := -1
	for _, b := range fn.Blocks {
		ret, ok := b.Instrs[len(b.Instrs)-1].(*ssa.Return)
		if !ok {
			continue
		}
		i := slices.IndexFunc(ret.Results, func(r ssa.Value) bool {
			return accesspath.Of(r) == accesspath.Path{Root: v}
		})
		if i >= 0 {
			found = i
		}
	}
	return found
}

// surely returns what is waited for on every way to a return.
func (f *frame) surely() []signal {
	var must []signal
	first := true
	for _, b := range f.fn.Blocks {
		ret, ok := b.Instrs[len(b.Instrs)-1].(*ssa.Return)
		if !ok {
			continue
		}
		waits := strong(both(f.after(ret), f.polled(ret)))
		if first {
			must, first = waits, false
			continue
		}
		must = slices.DeleteFunc(must, func(s signal) bool { return !slices.Contains(waits, s) })
	}
	return must
}

// leaves returns s with what it may still access when the function returns; nil
// if that is nothing.
func (f *frame) leaves(s *strand) *strand {
	left := *s
	left.touches = nil
	known := map[listKey]bool{}
	for _, t := range s.touches {
		if !f.visible(t.Place.Path) {
			continue
		}
		key := listKey{n: len(t.then)}
		if key.n > 0 {
			key.first = &t.then[0]
		}
		outlasts, ok := known[key]
		if !ok {
			outlasts = f.outlasts(s, t)
			known[key] = outlasts
		}
		if outlasts {
			left.touches = append(left.touches, t)
		}
	}
	if len(left.touches) == 0 {
		return nil
	}
	return &left
}

// outlasts reports whether the function may return without having waited for
// what the goroutines of s give after t.
func (f *frame) outlasts(s *strand, t *Touch) bool {
	given := f.closure(t.then)
	for _, b := range f.fn.Blocks {
		if ret, ok := b.Instrs[len(b.Instrs)-1].(*ssa.Return); ok && f.comesTo(s.at, ret, accesspath.Path{}, given) {
			return true
		}
	}
	return false
}

// locksIn reports whether an instruction of the block is an operation of a lock.
func (f *frame) locksIn(b *ssa.BasicBlock) bool {
	return slices.ContainsFunc(b.Instrs, func(instr ssa.Instruction) bool {
		return f.lockset.Receiver(instr) != nil || f.lockset.IsTurn(instr)
	})
}

// waitsForBubble reports whether the block calls synctest.Wait, which returns when all other goroutines of
// the bubble have ended, or wait.
func waitsForBubble(b *ssa.BasicBlock) bool {
	return slices.ContainsFunc(b.Instrs, func(instr ssa.Instruction) bool {
		call, ok := instr.(*ssa.Call)
		callee := (*ssa.Function)(nil)
		if ok {
			callee = call.Call.StaticCallee()
		}
		return callee != nil && callee.Name() == "Wait" && packageOf(callee) == "testing/synctest"
	})
}
