package simulation

import (
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/pass/ir"
)

// callee evaluates the function that a call runs, and its arguments; not ok if
// the call panics for a nil function or interface.
func (m *machine) callee(st *state, f *frame, common *ssa.CallCommon) (fn value, args []value, ok bool) {
	args = m.values(st, f, common.Args)
	v := m.valueOf(st, f, common.Value)
	if !common.IsInvoke() {
		return v, args, v.kind != null && v.kind != none
	}
	switch v.kind {
	case null, none:
		return v, nil, false
	case boxed:
		if fn, recv := m.method(st, v.ref.vals[0], v.ref.at.(types.Type), common.Method); fn != nil {
			return m.in.closure(fn, nil), append([]value{recv}, args...), true
		}
	case closure: // a context that the simulation has made
		return m.in.special("context."+common.Method.Name(), v), args, true
	case symbol:
		switch common.Method.FullName() {
		case "(context.Context).Done", "(context.Context).Err":
			return m.in.special("context."+common.Method.Name(), v), nil, true
		}
	}
	if quietSignature(common.Signature()) {
		return m.in.special("unknown"), nil, true
	}
	return m.in.special("opaque"), append(args, v), true
}

// method finds the method of a value of type t, and the receiver, which an
// embedded field may be.
func (m *machine) method(st *state, v value, t types.Type, method *types.Func) (*ssa.Function, value) {
	sel := types.NewMethodSet(t).Lookup(method.Pkg(), method.Name())
	if sel == nil {
		return nil, v
	}
	// The way through embedded fields; v stays a pointer where it can.
	index := sel.Index()
	for _, i := range index[:len(index)-1] {
		ptr, isPtr := t.Underlying().(*types.Pointer)
		if isPtr {
			t = ptr.Elem()
		}
		s, ok := t.Underlying().(*types.Struct)
		if !ok {
			return nil, v
		}
		t = s.Field(i).Type()
		if !isPtr {
			v = m.selectPart(v, int64(i), t)
			continue
		}
		if v = m.partAddress(st, v, int64(i)); v.kind == none {
			return nil, v
		}
		if _, toPtr := t.Underlying().(*types.Pointer); toPtr {
			v = m.loadPlace(st, v.n, v.ref, t)
		} else {
			t = types.NewPointer(t)
		}
	}
	if _, embedded := t.Underlying().(*types.Interface); embedded {
		if v.kind != boxed {
			return nil, v
		}
		return m.method(st, v.ref.vals[0], v.ref.at.(types.Type), method)
	}
	fn := m.pkg.Prog.FuncValue(sel.Obj().(*types.Func).Origin())
	if fn == nil {
		return nil, v
	}
	_, isPtr := t.Underlying().(*types.Pointer)
	if _, wantsPtr := fn.Signature.Recv().Type().Underlying().(*types.Pointer); isPtr && !wantsPtr {
		id, p, ok := m.target(st, v)
		if !ok {
			return nil, v
		}
		v = m.loadPlace(st, id, p, pointedType(t))
	}
	return fn, v
}

// startCall makes call d: inLine, its result goes to the register of the call, else it is a deferred one.
func (m *machine) startCall(st *state, g int, d deferred, inLine bool) bool {
	if d.fn.kind != closure {
		return m.opaque(st, g, d, inLine)
	}
	fn, ok := d.fn.ref.at.(*ssa.Function)
	if !ok {
		return m.callSpecial(st, g, d, inLine)
	}
	if isLogMethod(fn) {
		m.useTest(st, g, d)
	}
	if model := modelOf(fn); model != nil {
		return model(m, st, g, d, inLine)
	}
	// Some functions are not run: those of other packages, and those that do not matter.
	fn = origin(fn)
	if m.strange(st, fn, d) {
		return m.opaque(st, g, d, inLine)
	}
	if len(fn.Blocks) == 0 || m.notWorthRunning(fn) {
		if asserts(fn) {
			return m.finish(st, g, d, inLine, yes)
		}
		if harmless(fn) || len(fn.Blocks) > 0 {
			if text, ok := m.nextText(st, g, fn, d); ok && inLine {
				return m.startCall(st, g, text, false)
			}
			m.passOver(st, fn, d.call)
			m.handCallbacks(st, fn, d)
			m.container(st, g, d, fn)
			return m.finish(st, g, d, inLine, m.outcome(st, g, d, fn))
		}
		return m.opaque(st, g, d, inLine)
	}
	if len(st.gs[g].frames) >= maxDepth || m.recursive(st.gs[g], fn) {
		return m.dropState()
	}
	frame := m.newFrame(st, fn, d.args, d.fn.ref.vals)
	if inLine {
		frame.site = d.call
	}
	gr := st.editGoroutine(g)
	gr.frames = append(gr.frames, frame)
	return true
}

// handCallbacks lets others know the functions, and the objects as of an interface, that fn is handed, which is not run
// and calls them: sort.Slice, fmt.Fscan.
func (m *machine) handCallbacks(st *state, fn *ssa.Function, d deferred) {
	params := fn.Signature.Params()
	args := d.args[max(0, len(d.args)-params.Len()):]
	for i, v := range args {
		if called, ok := v.function(); ok {
			if !m.isQuiet(called) {
				m.escape(st, v)
			}
			continue
		}
		if i, ok := params.At(i).Type().Underlying().(*types.Interface); ok && i.NumMethods() > 0 && v.kind == boxed {
			m.escape(st, v)
		}
	}
}

// function returns the function of a closure.
func (v value) function() (fn *ssa.Function, ok bool) {
	if v.kind != closure {
		return nil, false
	}
	fn, ok = v.ref.at.(*ssa.Function)
	return fn, ok
}

// strange reports whether a shallow simulation leaves fn out: it is long, not part of the
// root, and reaches no object that the scope has made.
func (m *machine) strange(st *state, fn *ssa.Function, d deferred) bool {
	if !m.shallow || len(fn.Blocks) == 0 || ir.Outermost(fn) == m.root {
		return false
	}
	m.touched[fn] = true
	if length(fn) <= shortFunction {
		return false
	}
	return !slices.ContainsFunc(slices.Concat(d.args, d.fn.ref.vals), func(v value) bool { return m.isMadeInScope(st, v) })
}

// isMadeInScope reports whether v leads to an object that the scope has made, and nobody else knows.
func (m *machine) isMadeInScope(st *state, v value) bool {
	switch v.kind {
	case address:
		return !st.objs[v.n].escaped
	case closure, boxed, record, tuple:
		return slices.ContainsFunc(v.ref.vals, func(part value) bool { return m.isMadeInScope(st, part) })
	}
	return false
}

// length returns how many instructions fn has.
func length(fn *ssa.Function) int {
	n := 0
	for _, b := range fn.Blocks {
		n += len(b.Instrs)
	}
	return n
}

// recursive reports whether fn runs already, twice.
func (m *machine) recursive(g *goroutine, fn *ssa.Function) bool {
	n := 0
	for _, f := range g.frames {
		if f.fn == fn {
			n++
		}
	}
	return n > maxElements
}

func origin(fn *ssa.Function) *ssa.Function {
	if o := fn.Origin(); o != nil && len(fn.Blocks) == 0 {
		return o
	}
	return fn
}

// opaque calls unknown code: the arguments have escaped.
func (m *machine) opaque(st *state, g int, d deferred, inLine bool) bool {
	// A method of this name ends the program, as those of loggers do; in package testing it ends a test.
	if c := d.call.Common(); c.IsInvoke() && slices.Contains([]string{"Fatal", "Fatalf", "Fatalln"}, c.Method.Name()) &&
		c.Method.Pkg().Path() != "testing" {
		return endTest(m, st, g, d, inLine)
	}
	st.clouded = true
	m.escape(st, d.fn)
	for _, a := range d.args {
		m.escape(st, a)
		m.overwrite(st, g, d.call, a)
	}
	return m.finish(st, g, d, inLine, m.freshSymbol(st, g, d.call))
}

// overwrite makes the values unknown that others may store through a pointer:
// numbers, texts, nil and slices.
func (m *machine) overwrite(st *state, g int, at any, v value) {
	if v.kind == boxed {
		v = v.ref.vals[0]
	}
	if v.kind != address {
		return
	}
	o := st.editObject(v.n)
	for p, c := range o.cells {
		if c.kind == number || c.kind == text || c.kind == null || c.kind == slice {
			o.cells[p] = m.in.internTerm("written", placeID(p), m.freshSymbol(st, g, at))
		}
	}
}

// finish ends a call of g with its result.
func (m *machine) finish(st *state, g int, d deferred, inLine bool, result value) bool {
	if result.kind == none {
		return m.dropState()
	}
	if gr := st.editGoroutine(g); gr.status == waiting {
		if gr.op.kind == opClose || gr.op.kind == opSignal || gr.op.kind == opBroadcast {
			st.release(g)
		} else if gr.op.kind != opAdd {
			st.acquire(g)
		}
		gr.status, gr.op = running, op{}
		st.ready = append(st.ready, g)
	}
	if inLine {
		f := st.topFrame(g)
		if v, ok := d.call.(ssa.Value); ok {
			m.setRegister(f, v, result)
		}
		f.pc++
	}
	return true
}

// returnFrom returns from the innermost call of g; a test calls the functions that it has left to Cleanup first.
func (m *machine) returnFrom(st *state, g int, f *frame, ret *ssa.Return) bool {
	if len(f.defers) > 0 {
		return m.runDefer(st, g, f)
	}
	results := m.values(st, f, ret.Results)
	result := m.in.internTuple(results...)
	if len(results) == 1 {
		result = results[0]
	}
	return m.popFrame(st, g, f, ret, result)
}

func (m *machine) popFrame(st *state, g int, f *frame, at ssa.Instruction, result value) bool {
	m.runHook(st, g, f.after)
	gr := st.editGoroutine(g)
	gr.frames = gr.frames[:len(gr.frames)-1]
	m.forgetFrame(st, g, len(gr.frames)+1, result)
	if len(gr.frames) == 0 {
		m.endGoroutine(st, g, at)
		if g == 0 {
			m.escape(st, result)
		}
		return true
	}
	if f.site != nil {
		top := st.topFrame(g)
		if v, ok := f.site.(ssa.Value); ok {
			m.setRegister(top, v, result)
		}
		top.pc++
	}
	return true
}

func (m *machine) runHook(st *state, g int, h hook) {
	if h.on.kind != none {
		st.release(g)
		m.editLock(st, h.on, func(l *lockState) {
			if h.count {
				l.count--
			} else {
				l.count = onceDone
			}
		})
	}
}

// forgetFrame drops the decisions about symbols of a frame that is left,
// unless its result is made of them.
func (m *machine) forgetFrame(st *state, g, depth int, result value) {
	if result.kind == tuple && len(result.ref.vals) > 0 || result.kind == symbol || result.kind == boxed {
		return
	}
	mark := int64(g)<<16 | int64(depth)
	gone := func(f fact) bool {
		return slices.ContainsFunc(f.ref.roots, func(r *ref) bool {
			_, made := r.at.(ssa.Instruction)
			return made && r.n == mark
		})
	}
	if slices.ContainsFunc(st.facts, gone) {
		st.facts = slices.DeleteFunc(slices.Clone(st.facts), gone)
	}
}

// endGoroutine ends goroutine g.
func (m *machine) endGoroutine(st *state, g int, at ssa.Instruction) {
	gr := st.editGoroutine(g)
	gr.status, gr.end, gr.op = ended, at, op{}
	if g == 0 {
		m.endTest(st)
	}
	if g == 0 && m.root.Name() == "main" && m.root.Pkg.Pkg.Name() == "main" {
		st.over = true
	}
}

// runDefer makes the next deferred call of a frame that returns.
func (m *machine) runDefer(st *state, g int, f *frame) bool {
	if len(f.defers) == 0 {
		f.pc++
		return true
	}
	d := f.defers[len(f.defers)-1]
	f.defers = f.defers[:len(f.defers)-1]
	return m.startCall(st, g, d, false)
}

// unwind leaves the innermost frame of a goroutine that exits or panics.
func (m *machine) unwind(st *state, g int, f *frame) bool {
	if len(f.defers) > 0 {
		return m.runDefer(st, g, f)
	}
	if f.leaving == recovered {
		f.leaving = staying
		if f.fn.Recover != nil {
			f.block, f.pc = f.fn.Recover, 0
			return true
		}
		return m.popFrame(st, g, f, f.block.Instrs[f.pc], m.freshSymbol(st, g, f.fn))
	}
	at, mode := f.block.Instrs[f.pc], f.leaving
	m.runHook(st, g, f.after)
	gr := st.editGoroutine(g)
	gr.frames = gr.frames[:len(gr.frames)-1]
	if len(gr.frames) > 0 {
		st.topFrame(g).leaving = mode
		return true
	}
	m.endGoroutine(st, g, at)
	gr = st.editGoroutine(g)
	gr.fatal = true
	if mode == panicking {
		st.over = true
	}
	return true
}

// recover ends a panic of the frame that runs the deferred call.
func (m *machine) recover(st *state, g int, d deferred, inLine bool) bool {
	result := nilValue
	if gr := st.editGoroutine(g); len(gr.frames) > 1 && gr.frames[len(gr.frames)-2].leaving == panicking {
		below := *gr.frames[len(gr.frames)-2]
		below.leaving = recovered
		gr.frames[len(gr.frames)-2] = &below
		result = m.freshSymbol(st, g, d.call)
		st.assume(m.evalEqual(result, nilValue), false)
	}
	return m.finish(st, g, d, inLine, result)
}

// goStatement starts a goroutine.
func (m *machine) goStatement(st *state, g int, f *frame, instr *ssa.Go) bool {
	fn, args, ok := m.callee(st, f, instr.Common())
	if !ok {
		return false
	}
	f.pc++
	return m.startGoroutine(st, g, instr, fn, args, hook{})
}

// startGoroutine runs fn in a goroutine that g starts.
func (m *machine) startGoroutine(st *state, g int, at ssa.Instruction, fn value, args []value, after hook) bool {
	st.release(g)
	code, ok := (*ssa.Function)(nil), false
	if fn.kind == closure {
		code, ok = fn.ref.at.(*ssa.Function)
	}
	if ok {
		code = origin(code)
	}
	if !ok || len(code.Blocks) == 0 {
		m.escape(st, fn)
		for _, a := range args {
			m.escape(st, a)
		}
		m.runHook(st, g, after)
		return true
	}
	if len(st.gs) >= maxCrowd {
		return m.dropState()
	}
	top := m.newFrame(st, code, args, fn.ref.vals)
	top.after = after
	st.gs = append(st.gs, &goroutine{stamp: st.stamp, frames: []*frame{top}, start: at,
		starter: g, born: st.now, acquired: st.gs[g].acquired})
	st.ready = append(st.ready, len(st.gs)-1)
	return true
}
