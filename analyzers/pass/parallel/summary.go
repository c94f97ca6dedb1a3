package parallel

import (
	"go/token"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/internal/knowledge"
	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
	"github.com/interlock-go/interlock/analyzers/pass/callgraph"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
	"github.com/interlock-go/interlock/analyzers/pass/order"
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
	// The signals that the callees down to Instr have waited for before, and may give afterwards.
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
// their accesses.
type strand struct {
	at      ssa.CallInstruction // the go statement, or the call that leads to it
	start   ssa.CallInstruction // the go statement
	touches []*Touch
	syncs   syncs // all that it waits for or signals, in no order
	depth   int   // calls and go statements that lead from the function to start
	subtest bool  // a parallel subtest, which waits until its starter has returned
}

// summary is the part of a function that a caller sees.
type summary struct {
	touches []*Touch
	strands []*strand // that may go on when the function returns
	must    []signal  // waited for on every way to a return
	all     syncs     // waited for, and given, on some way
	handed  []held    // locks that it releases for its caller
}

// sumUp sums up fn, and judges its goroutines.
func (b *builder) sumUp(fn *ssa.Function, work *ir.Work) {
	f := &frame{builder: b, fn: fn, flow: b.prog.Flow(fn), work: work,
		at: map[ssa.Instruction]syncs{}, entered: map[*ssa.BasicBlock][]signal{},
		passed: map[ssa.Instruction][]signal{}, joins: map[*ssa.BasicBlock][]signal{},
		coming: map[ssa.Instruction][]signal{},
		tested: map[*ssa.BasicBlock][]Place{}}
	// The locks at each instruction, as far as fn has taken them itself.
	var atReturn []held
	f.locks, atReturn = b.ownLocks(fn)
	// First the signals that each instruction waits for and sends, then its accesses, and the goroutines that it starts.
	f.findSyncs()
	for instr := range ir.Instructions(fn) {
		f.instruction(instr)
	}
	f.limitTouches()
	f.compareGoroutines()
	b.summaries[fn] = f.summary(atReturn)
}

// instruction adds the accesses of instr and the goroutines that it starts.
func (f *frame) instruction(instr ssa.Instruction) {
	for _, a := range accessesOf(instr) {
		if !f.takenOut(a.by, instr) {
			f.touches = append(f.touches, &Touch{Place: a.place, Mode: a.mode, Instr: instr, Fn: f.fn, Addr: a.addr,
				at: instr, locks: slices.Concat(f.locks[instr], wonAtomic(instr.Block())), tests: f.testedVariables(instr.Block()),
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
			f.addStart(s, sum)
			continue
		}
		// A method of an interface that several types have may be any of them.
		if _, known := f.onlyCallee(call); known || s.Through != nil {
			f.called(s, sum)
		}
	}
}

// takenOut reports whether a reference on the way to v was loaded under a lock
// that is not held any more at instr: its object may have been swapped out.
func (f *frame) takenOut(v ssa.Value, instr ssa.Instruction) bool {
	load, ok := ir.Root(v, ir.Field|ir.Element).(*ssa.UnOp)
	return ok && (slices.ContainsFunc(f.locks[load], func(h held) bool { return !slices.Contains(f.locks[instr], h) }) ||
		f.takenOut(load.X, instr))
}

// testedVariables lists the fields and package variables by which branches decide whether
// control comes to b.
func (f *frame) testedVariables(b *ssa.BasicBlock) []Place {
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
	list = append(list, f.testedVariables(d)...)
	list = slices.Clip(list[:min(len(list), knowledge.TestsOfTouch)])
	f.tested[b] = list
	return list
}

// loadsOf lists the loads that a condition is computed from.
func loadsOf(cond ssa.Value) []ssa.Value {
	switch x := cond.(type) {
	case *ssa.UnOp:
		if x.Op == token.MUL {
			return []ssa.Value{x}
		}
		return loadsOf(x.X)
	case *ssa.BinOp:
		return append(loadsOf(x.X), loadsOf(x.Y)...)
	case *ssa.Call:
		if atomic := order.On(x, order.Atomics); atomic != nil {
			return []ssa.Value{atomic}
		}
	}
	return nil
}

// called adds the accesses of a callee, and the goroutines that it leaves running.
func (f *frame) called(s callgraph.Site, sum *summary) {
	// A helper that runs the function under a lock: locked(&mu, func() { n++ }).
	if s.Through != nil && f.lockset.RunsUnderLock(s) {
		return
	}
	m := newMapping(s)
	for _, at := range f.placesOfCall(s.Instr) {
		f.work.Spend(len(sum.touches))
		locks := slices.Concat(f.locks[at], wonAtomic(at.Block()))
		for _, t := range sum.touches {
			if len(f.touches) >= knowledge.TouchesOfFunction {
				break
			}
			if moved := m.touchInCaller(t, at, locks); moved != nil {
				moved.calls++
				f.amongDefers(s.Instr, moved)
				moved.tests = append(moved.tests, f.testedVariables(s.Instr.Block())...)
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

// placesOfCall lists where a call runs: a deferred one at the ends of the function.
func (f *frame) placesOfCall(call ssa.CallInstruction) []ssa.Instruction {
	d, deferred := call.(*ssa.Defer)
	if !deferred {
		return []ssa.Instruction{call}
	}
	var ends []ssa.Instruction
	for instr := range ir.Instructions(f.fn) {
		if _, ok := instr.(*ssa.RunDefers); ok && len(ends) < knowledge.EndsOfDefer && f.flow.Leads(d, instr) {
			ends = append(ends, instr)
		}
	}
	return ends
}

// amongDefers adds to t, which a deferred call makes, the signals that later deferred
// calls wait for, as these run before it, and the signals that earlier deferred calls
// give.
func (f *frame) amongDefers(call ssa.CallInstruction, t *Touch) {
	d, ok := call.(*ssa.Defer)
	if !ok {
		return
	}
	for _, o := range f.deferred {
		if o.instr != d && f.flow.Leads(d, o.instr) {
			t.after = addSignals(t.after, o.waits...)
		}
		if o.instr != d && f.flow.Leads(o.instr, d) {
			t.then = addSignals(t.then, o.gives...)
		}
	}
}

// limitTouches keeps the touches few: those alike are one, writes go before reads.
func (f *frame) limitTouches() {
	f.touches = fewestTouches(f.touches)
	for _, s := range f.strands {
		s.touches = fewestTouches(s.touches)
	}
}

func fewestTouches(list []*Touch) []*Touch {
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

// summary returns the part of the function that its callers see.
func (f *frame) summary(handed []held) *summary {
	sum := &summary{handed: handed}
	for _, t := range f.touches {
		if t.calls >= knowledge.CallsToTouch || !f.visible(t.Place.Path) {
			continue
		}
		out := *t
		out.after = f.internSignals(joinSignals(t.after, f.waitedAfter(t.at)))
		out.then = f.internSignals(joinSignals(t.then, f.givenAfter(t.at)))
		sum.touches = append(sum.touches, &out)
	}
	for _, o := range f.ops {
		sum.all.waits, sum.all.gives = addSignals(sum.all.waits, o.waits...), addSignals(sum.all.gives, o.gives...)
	}
	for _, waits := range f.entered {
		sum.all.waits = addSignals(sum.all.waits, waits...)
	}
	sum.must = f.surely()
	for _, s := range f.strands {
		if left := f.leaves(s); left != nil {
			sum.strands = append(sum.strands, left)
		}
	}
	return sum
}

// joinSignals returns the signals of two lists.
func joinSignals(a, b []signal) []signal {
	switch {
	case len(a) == 0:
		return b
	case len(b) == 0:
		return a
	}
	return addSignals(slices.Clone(a), b...)
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

// surely returns the signals that are waited for on every way to a return.
func (f *frame) surely() []signal {
	var must []signal
	first := true
	for _, b := range f.fn.Blocks {
		ret, ok := b.Instrs[len(b.Instrs)-1].(*ssa.Return)
		if !ok {
			continue
		}
		waits := strong(joinSignals(f.waitedAfter(ret), f.polled(ret)))
		if first {
			must, first = waits, false
			continue
		}
		must = slices.DeleteFunc(must, func(s signal) bool { return !slices.Contains(waits, s) })
	}
	return must
}
