package simulation

import (
	"slices"

	"golang.org/x/tools/go/ssa"
)

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
	// The code of a method value, as of t.Logf, is nowhere in the source: what calls it is.
	gr, at := st.editG(g), d.call
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

// logs reports whether fn is a method by which goroutines write to the log of a test, or let it fail. (Those
// that end the goroutine belong to the test's own.)
func logs(fn *ssa.Function) bool {
	if failsTest(fn) == failsLater {
		return fn.Object().Pkg().Path() == "testing"
	}
	obj := fn.Object()
	return obj != nil && obj.Pkg() != nil && obj.Pkg().Path() == "testing" && fn.Signature.Recv() != nil &&
		(obj.Name() == "Log" || obj.Name() == "Logf")
}

// cleanup has the test call a function behind its own deferred ones.
func cleanup(m *machine, st *state, g int, d deferred, inLine bool) bool {
	if g != 0 || !m.isTest() {
		st.clouded = true
		m.escape(st, d.args[1])
		return m.finish(st, g, d, inLine, nilValue)
	}
	ok := m.finish(st, g, d, inLine, nilValue)
	first := *st.gs[0].frames[0]
	first.defers = slices.Insert(slices.Clone(first.defers), 0, deferred{d.call, d.args[1], nil})
	gr := st.editG(0)
	gr.frames = slices.Clone(gr.frames)
	gr.frames[0] = &first
	return ok
}

// isTest reports whether go test runs the scope.
func (m *machine) isTest() bool { return m.racing && m.root.Name() != "main" }
