package validate

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"math"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
	"github.com/interlock-go/interlock/analyzers/pass/callgraph"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
	"github.com/interlock-go/interlock/analyzers/pass/lockset"
	"github.com/interlock-go/interlock/analyzers/pass/syncops"
	"github.com/interlock-go/interlock/patchgen/internal/session"
)

// released demands that fewer returns leave a lock held: none does any more of a
// function and lock that the patch corrects, and none that released it.
func (j *judge) released() {
	oldEnds, oldUnclear := j.exitStates(j.old)
	nowEnds, nowUnclear := j.exitStates(j.now)
	if before, after := j.locked(j.old), j.locked(j.now); total(after) >= total(before) {
		j.add("released", "as many returns leave a lock held as before")
	} else {
		for _, k := range after.more(before) {
			j.add("released", "%s returns with %s", short(k.function), k.what)
		}
		for _, k := range after.left(before) {
			j.add("released", "another return of %s still leaves %s held", short(k.function), k.what)
		}
	}
	// What is released at a return now has to be a lock that was held there.
	for _, k := range nowEnds.more(oldEnds) {
		if oldEnds[k] == 0 && j.locked(j.now)[k] > 0 {
			j.add("released", "%s returns with %s", short(k.function), k.what)
		}
	}
	for _, k := range nowUnclear.more(oldUnclear) {
		j.add("released", "in %s, %s", short(k.function), k.what)
	}
	// The caller may have released what the function left held.
	for _, k := range j.unheld(j.now).more(j.unheld(j.old)) {
		j.add("released", "%s releases %s, which is not held there any more", short(k.function), k.what)
	}
}

// unheld counts the calls that release the claim's lock where it is not known to be held.
func (j *judge) unheld(s *side) tally {
	found := tally{}
	for _, p := range s.snap.Packages {
		each(p, func(fn *ssa.Function, instr ssa.Instruction, st *lockset.State) {
			for _, call := range runs(p, instr) {
				releases := acquired(p, call) == "" && strings.HasSuffix(methodName(call), "Unlock")
				class := classOfOp(p, call)
				if !releases || class == "" || class != s.claim.Lock {
					continue
				}
				if !st.MayHoldClass(class) && !st.MayHold(accesspath.Of(p.Locks.Receiver(call))) {
					found[tallyKey{declared(p, fn), short(class)}]++
				}
			}
		})
	}
	return found
}

// locked counts the locks that the returns of touched functions leave held, and those that a way out or a round of a
// loop keeps.
func (j *judge) locked(s *side) tally {
	held := tally{}
	for _, p := range s.snap.Packages {
		for _, fn := range p.IR.Funcs {
			if !j.touched[declared(p, fn)] {
				continue
			}
			p.Locks.WalkOwn(fn, func(instr ssa.Instruction, st *lockset.State) {
				if _, returns := instr.(*ssa.Return); returns {
					for _, h := range st.Held() {
						held[tallyKey{declared(p, fn), lockName(h.Path, h.Class)}]++
					}
				}
			})
			finished := ir.Finishes(fn, func(fn *ssa.Function, work *ir.Work) {
				for _, k := range p.Locks.Kept(fn, work) {
					held[tallyKey{declared(p, fn), lockName(k.Path, k.Class) + " on a way"}]++
				}
			})
			if !finished {
				j.add("released", "%s is too large to search its ways", short(declared(p, fn)))
			}
		}
	}
	return held
}

func total(t tally) int {
	n := 0
	for _, k := range t {
		n += k
	}
	return n
}

// lockedOnce demands that the holder of the claim's lock waits for it in fewer
// places than before, and that no function which the patch corrects surely does.
func (j *judge) lockedOnce() {
	again := func(s *side) tally {
		t := tally{}
		for site, n := range s.lockGraph().sites {
			if site.from == site.to && site.from == s.claim.Lock {
				t[tallyKey{site.function, short(site.to)}] += n
			}
		}
		return t
	}
	before, after := again(j.old), again(j.now)
	if total(after) >= total(before) {
		j.add("locked once", "%s is taken by its holder as often as before", short(j.now.claim.Lock))
	}
	for _, k := range after.more(before) {
		j.add("locked once", "%s takes %s while it is held", short(k.function), k.what)
	}
	for _, k := range j.relocks(j.now).left(j.relocks(j.old)) {
		j.add("locked once", "%s still takes %s while it is held, in another place", short(k.function), k.what)
	}
}

// relocks counts where touched functions take the claim's lock while they surely
// hold the same one. (Another object's lock of the class may be meant to be taken.)
func (j *judge) relocks(s *side) tally {
	t := tally{}
	for _, p := range s.snap.Packages {
		for _, a := range p.Locks.Relocks() {
			if a.First.Class == s.claim.Lock && j.touched[declared(p, a.Fn)] {
				t[tallyKey{declared(p, a.Fn), lockName(a.First.Path, a.First.Class)}]++
			}
		}
	}
	return t
}

// ordered demands that the claim's two locks are taken in one order only, and
// each as often as before.
func (j *judge) ordered() {
	before, after := j.acquisitions(j.old), j.acquisitions(j.now)
	for _, k := range append(before.more(after), after.more(before)...) {
		j.add("ordered", "%s takes %s %d times, and took it %d times", short(k.function), k.what, after[k], before[k])
	}
	g, a, b := j.now.lockGraph(), j.now.claim.Lock, j.now.claim.Second
	if g.way(a, b) != nil && g.way(b, a) != nil {
		j.add("ordered", "%s and %s are still taken in both orders", short(a), short(b))
	}
}

// acquisitions counts the locks that touched functions take, by class.
func (j *judge) acquisitions(s *side) tally {
	taken := tally{}
	j.eachTouched(s, func(p *session.Package, fn *ssa.Function, instr ssa.Instruction, _ *lockset.State) {
		if call, ok := instr.(ssa.CallInstruction); ok {
			if class := acquired(p, call); class != "" {
				taken[tallyKey{declared(p, fn), short(class)}]++
			}
		}
	})
	return taken
}

// counted demands of each goroutine that a touched function starts and that
// signs off at a WaitGroup: it is counted before it is started, and not by
// itself. One that waits is started when all are counted. Of a function and
// WaitGroup that the patch corrects no goroutine is left.
func (j *judge) counted() {
	if before, after := j.operations(j.old, finding.Done), j.operations(j.now, finding.Done); before != after {
		j.add("counted", "there are %d calls of Done, and there were %d", after, before)
	}
	if before, after := j.miscounted(j.old), j.miscounted(j.now); total(after) >= total(before) {
		j.add("counted", "as many goroutines as before are started where they are not counted")
	}
	for _, k := range j.miscounted(j.now).more(j.miscounted(j.old)) {
		j.add("counted", "%s %s", short(k.function), k.what)
	}
	for _, k := range j.miscounted(j.now).left(j.miscounted(j.old)) {
		j.add("counted", "%s still %s, in another place", short(k.function), k.what)
	}
}

// operations counts the operations of a mode in the packages that the patch touches.
func (j *judge) operations(s *side, mode finding.Mode) int {
	n := 0
	for _, p := range s.snap.Packages {
		for _, op := range p.Ops.All {
			if op.Mode == mode && j.touched[declared(p, op.Fn)] {
				n++
			}
		}
	}
	return n
}

// miscounted counts, in touched functions, go statements of goroutines that are counted too late.
func (j *judge) miscounted(s *side) tally {
	late := tally{}
	for _, p := range s.snap.Packages {
		for _, op := range p.Ops.All {
			if op.Mode != finding.Add {
				continue
			}
			// go func() { wg.Add(1); … }
			if j.touched[declared(p, op.Fn)] && len(p.Ops.Started(op.Fn)) > 0 {
				late[tallyKey{declared(p, op.Fn), "counts the goroutine that it runs in by " + op.Path.String()}]++
			}
			// go func() { wg.Wait() }(); wg.Add(1)
			for _, wait := range p.Ops.ByKey[op.Key] {
				if wait.Mode != finding.Wait || !j.touched[declared(p, wait.Fn)] {
					continue
				}
				for _, site := range p.Ops.Started(wait.Fn) {
					if site.Instr.Parent() == op.Fn && p.Ops.Reaches(site.Instr, op.Instr) {
						what := "counts behind the start of a goroutine that waits for " + op.Path.String()
						late[tallyKey{declared(p, op.Fn), what}]++
					}
				}
			}
		}
		for _, done := range p.Ops.All {
			if done.Mode != finding.Done || countsItself(p, done) {
				continue
			}
			// go func() { defer wg.Done(); … }, and wg.Add(1) behind it or nowhere
			for _, site := range p.Ops.Started(done.Fn) {
				touched := j.touched[declared(p, site.Instr.Parent())] || j.touched[declared(p, done.Fn)]
				if touched && !countedBefore(p, done.Key, site) {
					what := "starts a goroutine that is not counted by " + done.Path.String()
					late[tallyKey{declared(p, site.Instr.Parent()), what}]++
				}
			}
		}
	}
	return late
}

// countsItself reports whether the function of a Done also does the Add.
func countsItself(p *session.Package, done *syncops.Op) bool {
	return slices.ContainsFunc(p.Ops.ByKey[done.Key], func(op *syncops.Op) bool {
		return op.Mode == finding.Add && op.Fn == done.Fn
	})
}

// countedBefore reports whether an Add stands before a go statement on every path to it.
func countedBefore(p *session.Package, key syncops.Key, site callgraph.Site) bool {
	start := site.Instr
	for _, op := range p.Ops.ByKey[key] {
		if op.Mode != finding.Add || op.Fn != start.Parent() {
			continue
		}
		a, b := op.Instr.Block(), start.Block()
		first := slices.Index(a.Instrs, op.Instr) < slices.Index(a.Instrs, ssa.Instruction(start))
		if a != b && a.Dominates(b) || a == b && first {
			return true
		}
	}
	return false
}

// unblocked demands that fewer operations on the claim's channel wait for ever
// once its function has returned, and none does that did not before.
func (j *judge) unblocked() {
	before, after := j.blocking(j.old), j.blocking(j.now)
	if total(after) >= total(before) {
		j.add("unblocked", "as many operations on %s may wait for ever as before", j.now.claim.Variable)
	}
	for _, k := range after.more(before) {
		j.add("unblocked", "%s %s", short(k.function), k.what)
	}
	for _, k := range after.left(before) {
		j.add("unblocked", "%s still %s, in another place", short(k.function), k.what)
	}
}

// blocking counts the operations on the claim's channel of which nothing that
// its function does in the end frees the goroutine.
func (j *judge) blocking(s *side) tally {
	found := tally{}
	for _, p := range s.packages() {
		for _, op := range p.Ops.All {
			if op.Path.Root == nil || !s.isChannel(p, op) {
				continue
			}
			switch {
			case op.Mode == finding.Send && op.Alone && !hasRoom(p, op):
				found[tallyKey{declared(p, op.Fn), "sends where nobody may receive"}]++
			case op.Mode == finding.Receive && op.Alone && !closedAtReturn(p, op):
				found[tallyKey{declared(p, op.Fn), "receives where nobody may send or close"}]++
			}
		}
	}
	return found
}

// isChannel reports whether op is on the channel of the claim: its path starts
// at the local variable, or at the make that the variable is set to.
func (s *side) isChannel(p *session.Package, op *syncops.Op) bool {
	want := s.local(p)
	switch root := op.Path.Root.(type) {
	case *ssa.Alloc:
		return root.Pos() == want
	case *ssa.MakeChan:
		return definedBy(p, root.Pos()) == want
	}
	return false
}

// definedBy returns where the local is declared that is set to the call with its
// parenthesis at pos: of ch in ch := make(chan T) and var ch = make(chan T).
func definedBy(p *session.Package, pos token.Pos) (at token.Pos) {
	for _, f := range p.Files {
		if pos < f.FileStart || f.FileEnd <= pos {
			continue
		}
		ast.Inspect(f, func(n ast.Node) bool {
			var names []token.Pos
			var values []ast.Expr
			switch n := n.(type) {
			case *ast.AssignStmt:
				values = n.Rhs
				for _, lhs := range n.Lhs {
					names = append(names, lhs.Pos())
				}
			case *ast.ValueSpec:
				values = n.Values
				for _, id := range n.Names {
					names = append(names, id.Pos())
				}
			}
			for i, v := range values {
				if call, ok := ast.Unparen(v).(*ast.CallExpr); ok && call.Lparen == pos {
					at = names[i]
				}
			}
			return !at.IsValid()
		})
	}
	return at
}

// hasRoom reports whether the channel of op has room for all that is ever sent on it.
func hasRoom(p *session.Package, op *syncops.Op) bool {
	n := senders(p, op)
	starts := p.Ops.Started(op.Fn)
	if len(starts) == 1 && callgraph.InLoop(starts[0].Instr.Block()) && !madeInLoop(op, starts[0]) {
		return n == 1 && startedForEach(starts[0].Instr, capacity(op.Path.Root))
	}
	return room(op.Path.Root) >= n
}

// madeInLoop reports whether each round of the loop around a start makes a channel of its own.
func madeInLoop(op *syncops.Op, start callgraph.Site) bool {
	v, ok := op.Path.Root.(ssa.Instruction)
	return ok && v.Parent() == start.Instr.Parent() && callgraph.InLoop(v.Block())
}

// startedForEach reports whether the loop around a start goes as often as size says: both are len(xs), or one number,
// of which max(n, 0) is the room, as making a channel panics where it is negative.
func startedForEach(start ssa.Instruction, size ssa.Value) bool {
	room := lengthOf(size)
	if room != nil && grows(room) {
		return false
	}
	size, ok := notNegative(size)
	if !ok && room == nil {
		return false
	}
	for b := start.Block(); b != nil; b = b.Idom() {
		for _, instr := range b.Instrs {
			switch instr := instr.(type) {
			case *ssa.BinOp: // i < len(xs), i < n
				if instr.Op != token.LSS {
					continue
				}
				if room != nil && lengthOf(instr.Y) == room || isSameSize(instr.Y, size) && countsUp(instr.X) {
					return true
				}
			case *ssa.Next: // for range xs, a map
				if r, ok := instr.Iter.(*ssa.Range); ok && room != nil && r.X == room {
					return true
				}
			}
		}
	}
	return false
}

// notNegative returns n of max(n, 0), and else v itself. It reports whether v cannot be negative.
func notNegative(v ssa.Value) (n ssa.Value, ok bool) {
	if c, isConst := v.(*ssa.Const); isConst {
		return v, c.Value != nil && constant.Sign(c.Value) >= 0
	}
	if call := callOf("max", v); call != nil && len(call.Call.Args) == 2 {
		c, isConst := call.Call.Args[1].(*ssa.Const)
		return call.Call.Args[0], isConst && c.Value != nil && constant.Sign(c.Value) >= 0
	}
	t, isBasic := v.Type().Underlying().(*types.Basic)
	return v, isBasic && t.Info()&types.IsUnsigned != 0
}

// grows reports whether a map may have more elements later on than where its length was asked for: something is
// stored in it in its function, or it is handed on.
func grows(m ssa.Value) bool {
	if !isMap(m.Type()) || m.Referrers() == nil {
		return false
	}
	for _, ref := range *m.Referrers() {
		switch ref := ref.(type) {
		case *ssa.MapUpdate, *ssa.MakeClosure, *ssa.Store, *ssa.MakeInterface, *ssa.Go, *ssa.Defer:
			return true
		case *ssa.Call:
			if _, isBuiltin := ref.Call.Value.(*ssa.Builtin); !isBuiltin {
				return true
			}
		}
	}
	return false
}

// isSameSize reports whether two values are surely the same number: one constant, one value, or two loads of a captured
// local that is set once.
func isSameSize(a, b ssa.Value) bool {
	if a == b {
		return true
	}
	x, isConst := a.(*ssa.Const)
	y, areConst := b.(*ssa.Const)
	if isConst && areConst {
		return x.Value != nil && y.Value != nil && constant.Compare(x.Value, token.EQL, y.Value)
	}
	load, isLoad := a.(*ssa.UnOp)
	again, areLoads := b.(*ssa.UnOp)
	if !isLoad || !areLoads || load.X != again.X {
		return false
	}
	stored, known := storedIn(load.X)
	return known && len(stored) == 1
}

// setsCaptured reports whether a literal does anything but read a captured local.
func setsCaptured(closure *ssa.MakeClosure, cell ssa.Value) bool {
	fn := closure.Fn.(*ssa.Function)
	for i, v := range closure.Bindings {
		if v != cell {
			continue
		}
		for _, ref := range *fn.FreeVars[i].Referrers() {
			if load, ok := ref.(*ssa.UnOp); !ok || load.Op != token.MUL {
				return true
			}
		}
	}
	return false
}

// countsUp reports whether v counts the rounds of a loop from 0: i, or i+1 where i starts at -1 as range has it.
func countsUp(v ssa.Value) bool {
	switch v := v.(type) {
	case *ssa.Phi:
		return startsAndSteps(v.Edges, v, 0)
	case *ssa.BinOp:
		phi, ok := v.X.(*ssa.Phi)
		return ok && v.Op == token.ADD && isOne(v.Y) && startsAndSteps(phi.Edges, phi, -1)
	// a captured variable, one for each round
	case *ssa.UnOp:
		stored, ok := storedIn(v.X)
		return ok && startsAndSteps(stored, v.X, 0)
	}
	return false
}

// startsAndSteps reports whether the values are the first one, the counter itself, and one more than the counter, which
// is a value or what is loaded from the cells of one.
func startsAndSteps(values []ssa.Value, counter ssa.Value, first int64) bool {
	cells := cellsOf(counter)
	isCounter := func(v ssa.Value) bool {
		load, ok := v.(*ssa.UnOp)
		return v == counter || ok && (load.X == counter || slices.Contains(cells, load.X))
	}
	for _, v := range values {
		c, isConst := v.(*ssa.Const)
		step, isStep := v.(*ssa.BinOp)
		switch {
		case isConst && c.Value != nil && c.Int64() == first:
		case isCounter(v):
		case isStep && step.Op == token.ADD && isCounter(step.X) && isOne(step.Y):
		default:
			return false
		}
	}
	return true
}

// cellsOf returns the cells that an address may be that of: one, or one for each round of a loop.
func cellsOf(addr ssa.Value) []ssa.Value {
	if phi, ok := addr.(*ssa.Phi); ok {
		return phi.Edges
	}
	return []ssa.Value{addr}
}

// storedIn returns all that is stored in the cells of a local; false where one is not known to be only that.
func storedIn(addr ssa.Value) (stored []ssa.Value, ok bool) {
	cells := cellsOf(addr)
	if !slices.Contains(cells, addr) {
		cells = append(slices.Clone(cells), addr)
	}
	for _, v := range cells {
		_, isCell := v.(*ssa.Alloc)
		if _, isPhi := v.(*ssa.Phi); !isCell && !isPhi {
			return nil, false
		}
		for _, ref := range *v.Referrers() {
			switch ref := ref.(type) {
			case *ssa.Store:
				stored = append(stored, ref.Val)
			case *ssa.UnOp, *ssa.Phi:
			case *ssa.MakeClosure: // which may set it
				if setsCaptured(ref, v) {
					return nil, false
				}
			default:
				return nil, false
			}
		}
	}
	return stored, true
}

func isOne(v ssa.Value) bool {
	c, ok := v.(*ssa.Const)
	return ok && c.Value != nil && c.Int64() == 1
}

// lengthOf returns xs for len(xs); nil for other values.
func lengthOf(v ssa.Value) ssa.Value {
	if call := callOf("len", v); call != nil {
		return call.Call.Args[0]
	}
	return nil
}

// callOf returns v where it is the result of a builtin function; nil where it is not.
func callOf(builtin string, v ssa.Value) *ssa.Call {
	call, ok := v.(*ssa.Call)
	if !ok {
		return nil
	}
	if b, ok := call.Call.Value.(*ssa.Builtin); !ok || b.Name() != builtin {
		return nil
	}
	return call
}

// capacity returns the size with which the channel in v is made; nil where it is not known.
func capacity(v ssa.Value) (size ssa.Value) {
	switch v := v.(type) {
	case *ssa.MakeChan:
		return v.Size
	case *ssa.ChangeType:
		return capacity(v.X)
	case *ssa.Alloc:
		// a captured local: the one value that is stored in it
		for _, ref := range *v.Referrers() {
			if st, ok := ref.(*ssa.Store); ok && st.Addr == v {
				size = capacity(st.Val)
			}
		}
	}
	return size
}

// senders counts the functions that send on the channel of op. One that may
// send twice counts as more than any channel has room for.
func senders(p *session.Package, op *syncops.Op) int64 {
	by := map[*ssa.Function]bool{}
	for _, other := range p.Ops.ByKey[op.Key] {
		if other.Mode != finding.Send {
			continue
		}
		by[other.Fn] = true
		for _, again := range p.Ops.ByKey[op.Key] {
			if again.Mode == finding.Send && again.Fn == other.Fn && p.IR.Flow(other.Fn).Leads(other.Instr, again.Instr) {
				return math.MaxInt64
			}
		}
	}
	return int64(len(by))
}

// room returns the capacity of the channel that v holds; 0 where it is not known.
func room(v ssa.Value) int64 {
	c, ok := capacity(v).(*ssa.Const)
	if !ok || c.Value == nil {
		return 0
	}
	n, _ := constant.Int64Val(c.Value)
	return n
}

// closedAtReturn reports whether a deferred call closes the channel of op, or one that comes before every return of the
// function that closes it.
func closedAtReturn(p *session.Package, op *syncops.Op) bool {
	for _, other := range p.Ops.ByKey[op.Key] {
		if other.Mode != finding.CloseChan {
			continue
		}
		if _, deferred := other.Instr.(*ssa.Defer); deferred || other.Fn != op.Fn && isBeforeReturns(other.Instr) {
			return true
		}
	}
	return false
}

// isBeforeReturns reports whether every return of a function comes behind the instruction.
func isBeforeReturns(instr ssa.Instruction) bool {
	for _, b := range instr.Parent().Blocks {
		_, returns := b.Instrs[len(b.Instrs)-1].(*ssa.Return)
		if returns && !instr.Block().Dominates(b) {
			return false
		}
	}
	return true
}
