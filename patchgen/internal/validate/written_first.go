package validate

import (
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
	"github.com/interlock-go/interlock/analyzers/pass/callgraph"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
	"github.com/interlock-go/interlock/analyzers/pass/order"
	"github.com/interlock-go/interlock/analyzers/pass/syncops"
	"github.com/interlock-go/interlock/patchgen/internal/facts"
	"github.com/interlock-go/interlock/patchgen/internal/session"
)

// writtenFirst doubts that a lock or atomic operations are all that a variable needs, where the source shows that a
// read is meant to come after a write: neither orders the two.
//
//	close(t.ready)	// the reader goes on here
//	t.sum = n
//
//	go s.loop()	// which uses s.limit once
//	s.limit = 5
//
//	go func() { sum = add(list) }()
//	return sum	// without a wait
//
// That is taken to be so where each write that others can see stands to the read like that. A variable that is set
// again and again, or looked at in a loop, only has to have some value.
func (j *judge) writtenFirst() {
	s := j.old
	var reads, writes []use
	for _, u := range s.uses() {
		switch {
		case u.unknown != "" || u.whole:
		case u.write:
			writes = append(writes, u)
		default:
			reads = append(reads, u)
		}
	}
	if len(reads) == 0 || len(writes) == 0 {
		return
	}
	o := &accessOrder{side: s, callers: s.callersOf(), ops: map[ssa.Instruction][]waitOp{},
		inner: map[opsIn][]waitOp{}}
	for _, x := range s.waitOps() {
		o.ops[x.instr] = append(o.ops[x.instr], x)
	}
	var above [][]passing // to each write
	for _, w := range writes {
		above = append(above, o.passings(w, w.updates(reads)))
	}
	for _, r := range reads {
		if o.isMeantFirst(r, above) && !haveCommonLock(r.locks.Held(), writes[0].locks.Held()) {
			j.notOrdered(r, writes[0])
			return
		}
	}
	j.setBehindStart(writes)
}

// isMeantFirst reports whether a read is meant to come after all writes, for the same reason: each of these by one of
// the ways that lead to it.
func (o *accessOrder) isMeantFirst(read use, writes [][]passing) bool {
	for _, r := range o.passings(read, false) {
		for _, isMeant := range []func(r, w passing) bool{o.isSignalledEarly, o.isSetLate, o.isReadEarly} {
			isOther := func(ways []passing) bool {
				return !slices.ContainsFunc(ways, func(w passing) bool { return isMeant(r, w) })
			}
			if !slices.ContainsFunc(writes, isOther) {
				return true
			}
		}
	}
	return false
}

// notOrdered doubts a patch of a read that is meant to come after a write.
func (j *judge) notOrdered(r, w use) {
	follows := "the lock orders nothing, and the read may still come first"
	if j.now.claim.Kind == Atomic {
		follows = "atomic operations order nothing here, and the read may still come first"
	}
	j.doubt(place{r.pkg, r.instr}, finding.Heavy, "written first", follows,
		"the read at %s is meant to come after the write at %s", at(r.pkg, r.instr), at(w.pkg, w.instr))
}

// accessOrder knows the operations of one state of a module that order accesses.
type accessOrder struct {
	*side
	callers map[*ssa.Function][]ssa.CallInstruction
	ops     map[ssa.Instruction][]waitOp
	inner   map[opsIn][]waitOp // see within
}

// opsIn is the key of the operations of a function and its callees.
type opsIn struct {
	fn    *ssa.Function
	depth int
}

// passing is a place by way of which a goroutine comes to an access: the access itself, or a call that leads there.
type passing struct {
	pkg    *session.Package
	fn     *ssa.Function
	instr  ssa.Instruction
	object accesspath.Path // of which the variable is a field, or the variable; zero if that is lost on the way
	// The functions that are called come to the access in a loop, or wait before it.
	loops, waits bool
	updates      bool // the access is a write of a value that is computed from the variable
}

// isRepeated reports whether the function of a place, or one that it calls, comes to the access in a loop.
func (x passing) isRepeated() bool { return x.loops || callgraph.InLoop(x.instr.Block()) }

// updates reports whether the write w stores a value that is computed from one of the reads.
func (w use) updates(reads []use) bool {
	return slices.ContainsFunc(reads, func(r use) bool {
		v, ok := r.instr.(ssa.Value)
		return ok && facts.Decided(v).Feeds(w.instr)
	})
}

// maxCallers bounds how far an access is followed upwards.
const maxCallers = 3

// passings lists the places by way of which a goroutine comes to an access, from the access upwards.
func (o *accessOrder) passings(u use, updates bool) []passing {
	x := passing{pkg: u.pkg, fn: u.fn, instr: u.instr, object: pathOf(u.base), updates: updates}
	if u.base == nil {
		x.object = accesspath.Of(u.root)
	}
	list := []passing{x}
	for from, depth := 0, 0; depth < maxCallers; depth++ {
		to := len(list)
		for _, x := range list[from:to] {
			for _, call := range o.callers[x.fn] {
				y := passing{pkg: o.Of(call.Parent()), fn: call.Parent(), instr: call, object: x.object, updates: updates,
					loops: x.loops || callgraph.InLoop(x.instr.Block()), waits: x.waits || o.waitsBefore(x, nil)}
				if _, args := callgraph.Target(call.Common()); x.object.Param(x.fn) >= 0 {
					y.object = accesspath.Path{}
					if i := x.object.Param(x.fn); i < len(args) {
						y.object = accesspath.Of(args[i]).Plus(x.object.Fields)
					}
				}
				list = append(list, y)
			}
		}
		from = to
	}
	return list
}

// orderOp is an operation as a function comes to it.
type orderOp struct {
	waitOp
	at ssa.Instruction // by itself, or by this call
}

// through lists the operations that an instruction makes, by the functions that it calls too.
func (o *accessOrder) through(instr ssa.Instruction, depth int) []waitOp {
	list := slices.Clone(o.ops[instr])
	if call, ok := runsHere(instr); ok && depth < maxCallers {
		for _, fn := range o.followed(call) {
			list = append(list, o.within(opsIn{fn, depth + 1})...)
		}
	}
	return list
}

// within lists the operations of a function and, as far down as maxCallers, its callees.
func (o *accessOrder) within(key opsIn) []waitOp {
	if list, known := o.inner[key]; known {
		return list
	}
	var list []waitOp
	for instr := range ir.Instructions(key.fn) {
		list = append(list, o.through(instr, key.depth)...)
	}
	o.inner[key] = list
	return list
}

// waitsBefore reports whether the function of a place may wait before it comes there: behind a start, if there is one.
func (o *accessOrder) waitsBefore(x passing, start ssa.Instruction) bool {
	flow := x.pkg.IR.Flow(x.fn)
	for instr := range ir.Instructions(x.fn) {
		isBefore := flow.Leads(instr, x.instr) && (start == nil || flow.Leads(start, instr))
		if isBefore && slices.ContainsFunc(o.through(instr, 0), waitOp.blocks) {
			return true
		}
	}
	return false
}

// blocks reports whether an operation waits for others.
func (x waitOp) blocks() bool { return x.waits != 0 && x.waits != order.Stored }

// isSignalledEarly reports whether the reader waits for a signal, or has found a flag set, which comes from the writer
// at once before it writes.
func (o *accessOrder) isSignalledEarly(r, w passing) bool {
	if r.fn == w.fn || !o.isStarted(w.fn, 0) {
		return false
	}
	waits := slices.DeleteFunc(o.near(r, false), func(x orderOp) bool {
		return x.waits == 0 || x.waits == order.Receipt
	})
	if len(waits) == 0 {
		return false
	}
	var signals []orderOp
	for _, x := range o.near(w, false) {
		if o.isSignalFor(x, w) {
			signals = append(signals, x)
		}
	}
	// An operation behind the write, other than such a signal again, may order the two.
	behind := slices.DeleteFunc(o.behind(w, 0), func(x orderOp) bool {
		return slices.ContainsFunc(signals, func(y orderOp) bool { return y.at == x.at })
	})
	isEarly := false
	for _, x := range waits {
		if slices.ContainsFunc(behind, func(y orderOp) bool { return y.fits(x.waitOp) }) {
			return false
		}
		isEarly = isEarly || slices.ContainsFunc(signals, func(y orderOp) bool {
			return y.signals == x.waits && isSame(x.on, y.on)
		})
	}
	return isEarly
}

// isSignalFor reports whether an operation comes at once before a write. In a loop both stand in one round, and the
// signal is a token, which has no value, or the write does not count on.
func (o *accessOrder) isSignalFor(x orderOp, w passing) bool {
	flow := w.pkg.IR.Flow(w.fn)
	if !flow.Precedes(x.at, w.instr) {
		return false
	}
	if w.isRepeated() {
		isRound := !w.loops && flow.Leads(w.instr, x.at)
		return isRound && (!w.updates || isEmpty(x.of))
	}
	return !w.waits && !o.waitsBefore(w, x.at)
}

// near lists the operations that the function of a place may make before it, or behind it, the deferred ones too.
func (o *accessOrder) near(x passing, behind bool) (list []orderOp) {
	flow := x.pkg.IR.Flow(x.fn)
	for instr := range ir.Instructions(x.fn) {
		_, isDefer := instr.(*ssa.Defer)
		isBehind := isDefer || flow.Leads(x.instr, instr)
		isBefore := !isDefer && flow.Leads(instr, x.instr)
		if behind && !isBehind || !behind && !isBefore {
			continue
		}
		for _, op := range o.through(instr, 0) {
			list = append(list, orderOp{op, instr})
		}
	}
	return list
}

// behind lists the operations that may come behind a place, those of the callers too.
func (o *accessOrder) behind(x passing, depth int) []orderOp {
	list := o.near(x, true)
	for _, call := range o.callers[x.fn] {
		if depth < maxCallers {
			list = append(list, o.behind(passing{pkg: o.Of(call.Parent()), fn: call.Parent(), instr: call}, depth+1)...)
		}
	}
	return list
}

// isEmpty reports whether values of a type hold nothing.
func isEmpty(t types.Type) bool {
	st, ok := t.Underlying().(*types.Struct)
	return ok && st.NumFields() == 0
}

// isSame reports whether two operations are surely on one channel or other object, by name.
func isSame(a, b ssa.Value) bool {
	x, known := syncops.KeyOf(a)
	y, same := syncops.KeyOf(b)
	return known && same && x == y
}

// isStarted reports whether a function runs once: in a goroutine that is started for it, or as the program.
func (o *accessOrder) isStarted(fn *ssa.Function, depth int) bool {
	p := o.Of(fn)
	isStart := func(s callgraph.Site) bool { return s.Mode == callgraph.Go }
	isStarted := func(call ssa.CallInstruction) bool { return o.isStarted(call.Parent(), depth+1) }
	return p.Calls.Roles(fn).Main || slices.ContainsFunc(p.Calls.Sites(fn), isStart) ||
		depth < maxCallers && slices.ContainsFunc(o.callers[fn], isStarted)
}

// starts lists the go statements of fn, and calls of groups, that start the function of a place, and the calls that
// lead to one.
func (o *accessOrder) starts(x passing, fn *ssa.Function) (list []ssa.Instruction) {
	for _, site := range x.pkg.Calls.Sites(x.fn) {
		_, isGo := site.Instr.(*ssa.Go)
		isGroup := site.Through != nil && site.Through.Name() == "Go"
		if site.Mode != callgraph.Go || !isGo && !isGroup {
			continue
		}
		work := []ssa.CallInstruction{site.Instr}
		for depth := 0; depth < maxCallers; depth++ {
			var next []ssa.CallInstruction
			for _, call := range work {
				if call.Parent() == fn {
					list = append(list, call)
				}
				next = append(next, o.callers[call.Parent()]...)
			}
			work = next
		}
	}
	return list
}

// isSetLate reports whether the writer starts the reader, and writes at once behind that, and the reader reads once.
func (o *accessOrder) isSetLate(r, w passing) bool {
	if r.isRepeated() || w.isRepeated() || r.waits || w.waits || o.waitsBefore(r, nil) {
		return false
	}
	flow := w.pkg.IR.Flow(w.fn)
	return slices.ContainsFunc(o.starts(r, w.fn), func(start ssa.Instruction) bool {
		return flow.Leads(start, w.instr) && !o.waitsBefore(w, start)
	})
}

// isReadEarly reports whether the reader starts the writer, and reads once behind that without a wait. A counter of an
// object that others know is looked at any time.
func (o *accessOrder) isReadEarly(r, w passing) bool {
	root := r.object.Root
	isOwn := root != nil && r.object.Fields == "" && root.Parent() == r.fn && isMadeHere(root)
	isLocal := o.claim.Variable.Type == "" && isOwn
	if r.loops || r.waits || !isLocal && w.isRepeated() || !isOwn && w.updates {
		return false
	}
	flow := r.pkg.IR.Flow(r.fn)
	return slices.ContainsFunc(o.starts(w, r.fn), func(start ssa.Instruction) bool {
		isOnce := !callgraph.InLoop(r.instr.Block()) || flow.Leads(r.instr, start) && !w.updates
		return flow.Leads(start, r.instr) && isOnce && !o.waitsBefore(r, start)
	})
}

// isMadeHere reports whether a value is a variable or object that its function makes.
func isMadeHere(v ssa.Value) bool {
	switch v.(type) {
	case *ssa.Alloc, *ssa.Call:
		return true
	}
	return false
}

// setBehindStart doubts that a variable need only be whole, where a function sets it once, behind the start of a
// goroutine: one that reads it first may be meant to find the value.
//
//	go t.loop()
//	t.origin = t.src.Origin()
func (j *judge) setBehindStart(writes []use) {
	first := writes[0]
	var start *ssa.Go // before all of them
	for instr := range ir.Instructions(first.fn) {
		if x, ok := instr.(*ssa.Go); ok && first.pkg.IR.Flow(first.fn).Leads(x, first.instr) {
			start = x
		}
	}
	isLate := func(w use) bool {
		store, ok := w.instr.(*ssa.Store)
		if !ok || start == nil || w.fn != first.fn || callgraph.InLoop(store.Block()) {
			return false
		}
		// A constant is a flag: something has happened.
		_, isConst := store.Val.(*ssa.Const)
		return !isConst && w.pkg.IR.Flow(w.fn).Leads(start, store)
	}
	for i, w := range writes {
		// Of several, one is made.
		if !isLate(w) || i > 0 && first.pkg.IR.Flow(first.fn).Leads(writes[i-1].instr, w.instr) {
			return
		}
	}
	j.doubt(place{first.pkg, first.instr}, finding.Heavy, "written first",
		"a goroutine that reads it first finds nothing there",
		"%s is set at %s, behind the start of a goroutine at %s, and nowhere else", j.now.claim.Variable,
		at(first.pkg, first.instr), at(first.pkg, start))
}
