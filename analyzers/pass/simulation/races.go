package simulation

import (
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/internal/knowledge"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
)

// Race is two accesses of two goroutines to one variable, of which one writes, in a run in which
// nothing orders them: Second comes after First, and the goroutine of First has let none go on since, as far as the
// goroutine of Second could wait for it.
type Race struct{ First, Second Access }

// Access is a read or write of a goroutine.
type Access struct {
	Goroutine int             // 0 is the first one
	Start     ssa.Instruction // that has started it
	Fn        *ssa.Function
	Instr     ssa.Instruction
	Addr      ssa.Value // the variable; for contents that of the map or container
	// Contents: of a map, or the inside of an object that leaves all locking to its user.
	Contents bool
	Write    bool
}

// touch is an access with its place in memory.
type touch struct {
	Access
	id    int64
	place *ref
	// released is when its goroutine has first done something afterwards that lets others go on; 0 if never.
	released int
}

// maxOpen is how many accesses of a goroutine are remembered.
const maxOpen = 48

// access notes an access of goroutine g, and reports those of others that it races with. Objects that
// only its function can reach, or that come from outside, are passed over, and so is a run that is not
// known to happen.
func (m *machine) access(st *state, g int, instr ssa.Instruction, addr ssa.Value, at value, contents, write bool) {
	if !m.racing || st.clouded || st.failed || st.failing || at.kind != address || onStack(addr) {
		return
	}
	if from := st.objs[at.n].base; from.kind != none {
		if _, isGlobal := from.ref.at.(*ssa.Global); !isGlobal {
			return
		}
	}
	gr := st.editGoroutine(g)
	t := touch{Access{g, gr.start, instr.Parent(), instr, addr, contents, write}, at.n, at.ref, 0}
	for h, other := range st.gs {
		if h == g {
			continue
		}
		for _, o := range other.open {
			if o.conflicts(t) && !st.ordered(o, g) {
				m.races = append(m.races, Race{o.Access, t.Access})
			}
		}
	}
	if slices.ContainsFunc(gr.open, t.covered) {
		return
	}
	if len(gr.open) >= maxOpen {
		gr.open = gr.open[1:]
	}
	gr.open = append(slices.Clip(gr.open), t)
}

// ordered reports whether the next step of g may come after t by the waits of the two, or by their starts.
func (st *state) ordered(t touch, g int) bool {
	switch {
	case t.released == 0:
		return false
	case t.released <= st.gs[g].acquired:
		return true
	}
	for ; g != 0; g = st.gs[g].starter {
		if gr := st.gs[g]; gr.starter == t.Goroutine && t.released <= gr.born {
			return true
		}
	}
	return false
}

// conflicts reports whether two accesses have memory in common, and one writes.
func (t touch) conflicts(o touch) bool {
	if t.id != o.id || t.Contents != o.Contents || !t.Write && !o.Write {
		return false
	}
	_, within := placeWithin(t.place, o.place)
	_, around := placeWithin(o.place, t.place)
	return within || around
}

// covered reports whether o stands for t as well.
func (t touch) covered(o touch) bool {
	return o.released == 0 && t.id == o.id && t.place == o.place && t.Contents == o.Contents && (o.Write || !t.Write)
}

func onStack(addr ssa.Value) bool {
	local, ok := addr.(*ssa.Alloc)
	return ok && !local.Heap
}

// release notes that g lets others go on: a goroutine that waits from now on may be ordered after the steps of g.
func (st *state) release(g int) {
	st.now++
	gr := st.gs[g]
	if len(gr.open) == 0 || gr.open[len(gr.open)-1].released > 0 {
		return
	}
	gr = st.editGoroutine(g)
	gr.open = slices.Clone(gr.open)
	for i := range gr.open {
		if gr.open[i].released == 0 {
			gr.open[i].released = st.now
		}
	}
}

// acquire notes that g has waited: it may be ordered after all that was released before.
func (st *state) acquire(g int) {
	st.now++
	st.editGoroutine(g).acquired = st.now
}

// synchronise notes an operation by which g may wait, and let others go on.
func (st *state) synchronise(g int) {
	st.release(g)
	st.acquire(g)
}

// forgetAccesses forgets the accesses to an object with a number that another one has now.
func (st *state) forgetAccesses(id int64) {
	gone := func(t touch) bool { return t.id == id }
	for g, gr := range st.gs {
		if slices.ContainsFunc(gr.open, gone) {
			st.editGoroutine(g).open = slices.DeleteFunc(slices.Clone(gr.open), gone)
		}
	}
}

// helped carries out a move: if others have to do their part first, which are not simulated, nothing is known
// of the order from then on.
func helped(others bool, do func(*state, int) bool) func(*state, int) bool {
	return func(st *state, g int) bool {
		st.clouded = st.clouded || others
		return do(st, g)
	}
}

// passOver notes that fn is not run: unless it orders nothing, nothing is known of the order from then on.
func (m *machine) passOver(st *state, fn *ssa.Function, call ssa.CallInstruction) {
	if len(fn.Blocks) > 0 || !ir.OrdersNothing(fn, call.Common().Args) {
		st.clouded = true
	}
}

// container notes the accesses of a method of a container of the standard library.
func (m *machine) container(st *state, g int, d deferred, fn *ssa.Function) {
	recv := fn.Signature.Recv()
	if recv == nil || len(d.args) == 0 || len(d.call.Common().Args) == 0 {
		return
	}
	if writes, ok := knowledge.Container(types.TypeString(recv.Type(), nil), ir.Origin(fn).Name()); ok {
		m.access(st, g, d.call, d.call.Common().Args[0], d.args[0], true, writes)
	}
}

// noteMapAccess notes the access of a builtin function to a map.
func (m *machine) noteMapAccess(st *state, g int, d deferred, writes bool) {
	if v := d.call.Common().Args[0]; isMapValue(v) {
		m.access(st, g, d.call, v, d.args[0], true, writes)
	}
}

func isMapValue(v ssa.Value) bool {
	_, ok := v.Type().Underlying().(*types.Map)
	return ok
}

// Late is a call by which a goroutine logs through a test, or lets it fail, that the test
// does not wait for: it may have ended, and package testing panics then.
type Late struct {
	Goroutine int
	Start     ssa.Instruction // that has started it
	Fn        *ssa.Function
	At        ssa.Instruction
}

// testLog stands for the test itself, which goroutines may use until it ends: no object has this number.
const testLog = -1

// useTest notes that g logs or fails, which is late if the test has ended.
func (m *machine) useTest(st *state, g int, d deferred) {
	if !m.isTest() || g == 0 || st.clouded || st.failed || st.failing {
		return
	}
	// The code of a method value, as of t.Logf, is nowhere in the source: its call is.
	gr, at := st.editGoroutine(g), d.call
	for i := len(gr.frames) - 1; at != nil && !at.Pos().IsValid(); i-- {
		at = gr.frames[i].site
	}
	if at == nil {
		return
	}
	use := touch{Access: Access{Goroutine: g, Start: gr.start, Fn: at.Parent(), Instr: at}, id: testLog}
	if st.gs[0].status == ended {
		m.addLate(use)
		return
	}
	gr.open = append(slices.Clip(gr.open), use)
}

// endTest finds the uses of the test that it has not waited for as it ends.
func (m *machine) endTest(st *state) {
	if !m.isTest() || st.clouded || st.failed || st.failing {
		return
	}
	for _, gr := range st.gs[1:] {
		for _, t := range gr.open {
			if t.id == testLog && !st.ordered(t, 0) {
				m.addLate(t)
			}
		}
	}
}

func (m *machine) addLate(t touch) {
	if !slices.ContainsFunc(m.late, func(l Late) bool { return l.At == t.Instr && l.Start == t.Start }) {
		m.late = append(m.late, Late{t.Goroutine, t.Start, t.Fn, t.Instr})
	}
}

// isLogMethod reports whether fn is a method by which goroutines write to the log of a test, or let it fail. (Those
// that end the goroutine belong to the test's own.)
func isLogMethod(fn *ssa.Function) bool {
	obj := ir.Declared(fn)
	if obj == nil || obj.Pkg() == nil || obj.Pkg().Path() != "testing" || fn.Signature.Recv() == nil {
		return false
	}
	ends, atOnce := knowledge.EndsTest(obj)
	return ends && !atOnce || obj.Name() == "Log" || obj.Name() == "Logf"
}

// cleanup has the test call a function behind its own deferred ones.
func cleanup(m *machine, st *state, g int, d deferred, inLine bool) bool {
	if g != 0 || !m.isTest() {
		st.clouded = true
		m.escape(st, d.args[1])
		return m.finish(st, g, d, inLine, nilValue)
	}
	ok := m.finish(st, g, d, inLine, nilValue)
	// It comes before the functions that have been registered so far, as with deferred calls.
	first, n := *st.gs[0].frames[0], 0
	for n < len(first.defers) && !isDefer(first.defers[n].call) {
		n++
	}
	first.defers = slices.Insert(slices.Clone(first.defers), n, deferred{d.call, d.args[1], nil})
	gr := st.editGoroutine(0)
	gr.frames = slices.Clone(gr.frames)
	gr.frames[0] = &first
	return ok
}

func isDefer(call ssa.CallInstruction) bool {
	_, ok := call.(*ssa.Defer)
	return ok
}

// isTest reports whether go test runs the scope.
func (m *machine) isTest() bool { return m.racing && m.root.Name() != "main" }
