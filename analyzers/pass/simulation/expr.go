package simulation

import (
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/pass/ir"
)

// execPlain executes an instruction that is no call, jump or operation on a channel.
func (m *machine) execPlain(st *state, g int, f *frame, instr ssa.Instruction) bool {
	f.pc++
	switch instr := instr.(type) {
	case *ssa.Store:
		id, p, ok := m.target(st, m.valueOf(st, f, instr.Addr))
		if !ok {
			return false // a nil pointer: not likely
		}
		if !ir.StoresItself(instr) {
			m.access(st, g, instr, instr.Addr, value{kind: address, n: id, ref: p}, false, true)
		}
		m.storePlace(st, id, p, m.valueOf(st, f, instr.Val))
		return true
	case *ssa.MapUpdate:
		m.access(st, g, instr, instr.Map, m.valueOf(st, f, instr.Map), true, true)
		m.update(st, m.valueOf(st, f, instr.Map), m.valueOf(st, f, instr.Key), m.valueOf(st, f, instr.Value))
		return true
	case *ssa.DebugRef:
		return true
	case ssa.Value:
		v := m.evaluate(st, g, f, instr)
		if v.kind == none {
			return false
		}
		m.setRegister(f, instr, v)
		return true
	}
	return m.dropState()
}

// evaluate returns the value of an instruction; none if it panics, or cannot be run.
func (m *machine) evaluate(st *state, g int, f *frame, instr ssa.Value) value {
	switch instr := instr.(type) {
	// Instructions that make an object.
	case *ssa.Alloc:
		return m.makeObject(st, instr, g, &object{})
	case *ssa.MakeChan:
		return m.makeObject(st, instr, g, &object{ch: &channel{size: m.valueOf(st, f, instr.Size)}})
	case *ssa.MakeMap:
		return m.makeObject(st, instr, g, &object{})
	case *ssa.MakeSlice:
		if n := m.valueOf(st, f, instr.Len); n.kind == number && n.n >= 0 && n.n <= maxLength {
			array := m.makeObject(st, instr, g, &object{})
			if array.kind == none {
				return array
			}
			return m.in.internSlice(array.n, 0, n.n)
		}
		return m.in.internTerm("made", 0, m.freshSymbol(st, g, instr), m.valueOf(st, f, instr.Len))
	// Instructions that make a value of others.
	case *ssa.MakeClosure:
		return m.in.closure(instr.Fn.(*ssa.Function), m.values(st, f, instr.Bindings))
	case *ssa.MakeInterface:
		return m.in.internBoxed(instr.X.Type(), m.valueOf(st, f, instr.X))
	case *ssa.BinOp:
		return m.binary(instr.Op, m.valueOf(st, f, instr.X), m.valueOf(st, f, instr.Y))
	case *ssa.UnOp:
		return m.evalUnary(st, g, instr, m.valueOf(st, f, instr.X))
	case *ssa.ChangeType:
		return m.valueOf(st, f, instr.X)
	case *ssa.ChangeInterface:
		return m.valueOf(st, f, instr.X)
	case *ssa.Convert:
		return m.convert(instr, m.valueOf(st, f, instr.X))
	case *ssa.MultiConvert:
		return m.convert(instr, m.valueOf(st, f, instr.X))
	}
	return m.evalPart(st, g, f, instr)
}

// evalPart evaluates instructions that take values apart.
func (m *machine) evalPart(st *state, g int, f *frame, instr ssa.Value) value {
	switch instr := instr.(type) {
	// Fields and elements.
	case *ssa.FieldAddr:
		return m.partAddress(st, m.valueOf(st, f, instr.X), int64(instr.Field))
	case *ssa.Field:
		return m.selectPart(m.valueOf(st, f, instr.X), int64(instr.Field), instr.Type())
	case *ssa.IndexAddr:
		return m.evalIndex(st, m.valueOf(st, f, instr.X), m.valueOf(st, f, instr.Index))
	case *ssa.Index:
		x, i := m.valueOf(st, f, instr.X), m.valueOf(st, f, instr.Index)
		if i.kind == number {
			return m.selectPart(x, i.n, instr.Type())
		}
		return m.in.internTerm("index", 0, x, i)
	case *ssa.Slice:
		return m.sliceOf(st, g, f, instr)
	case *ssa.Extract:
		t := m.valueOf(st, f, instr.Tuple)
		if t.kind == tuple {
			return t.ref.vals[instr.Index]
		}
		return m.in.internTerm("extract", int64(instr.Index), t)
	case *ssa.TypeAssert:
		return m.assert(instr, m.valueOf(st, f, instr.X))
	case *ssa.Lookup:
		return m.lookup(st, g, f, instr)
	case *ssa.Range:
		return m.makeObject(st, instr, g, st.iterator(m.valueOf(st, f, instr.X)))
	case *ssa.Next:
		return m.advanceRange(st, g, f, instr)
	}
	return m.freshSymbol(st, g, instr)
}

func (m *machine) evalUnary(st *state, g int, instr *ssa.UnOp, x value) value {
	switch instr.Op {
	case token.MUL:
		id, p, ok := m.target(st, x)
		if !ok {
			return value{} // a nil pointer: not likely
		}
		places := []*ref{p}
		if parts := ir.PartsRead(instr); len(parts) > 0 {
			places = places[:0]
			for _, part := range parts {
				places = append(places, m.in.internPlace(p, int64(part.Field)))
			}
		}
		for _, at := range places {
			m.access(st, g, instr, instr.X, value{kind: address, n: id, ref: at}, false, false)
		}
		return m.loadPlace(st, id, p, instr.Type())
	case token.NOT:
		return m.negate(x)
	case token.SUB:
		if x.kind == number {
			return numberValue(-x.n)
		}
	}
	return m.in.internTerm("unary"+instr.Op.String(), 0, x)
}

func (m *machine) binary(op token.Token, x, y value) value {
	switch op {
	case token.EQL, token.NEQ, token.LSS, token.LEQ, token.GTR, token.GEQ:
		return m.compare(op, x, y)
	}
	if x.kind != number || y.kind != number {
		return m.in.internTerm(op.String(), 0, x, y)
	}
	// Both are known; overflow does not matter here.
	switch op {
	case token.ADD:
		return numberValue(x.n + y.n)
	case token.SUB:
		return numberValue(x.n - y.n)
	case token.MUL:
		return numberValue(x.n * y.n)
	case token.QUO, token.REM:
		if y.n == 0 {
			return value{}
		}
		if op == token.QUO {
			return numberValue(x.n / y.n)
		}
		return numberValue(x.n % y.n)
	case token.AND:
		return numberValue(x.n & y.n)
	case token.OR:
		return numberValue(x.n | y.n)
	case token.SHL:
		return numberValue(x.n << min(uint64(y.n), 63))
	}
	return m.in.internTerm(op.String(), 0, x, y)
}

// convert keeps numbers and pointers.
func (m *machine) convert(instr ssa.Value, x value) value {
	if b, ok := instr.Type().Underlying().(*types.Basic); ok {
		if x.kind == number && b.Info()&types.IsInteger != 0 {
			return x
		}
		return m.in.internTyped("convert ", instr.Type(), x)
	}
	if _, ok := instr.Type().Underlying().(*types.Pointer); ok {
		return x
	}
	return m.in.internTyped("convert ", instr.Type(), x)
}

// partAddress is the address of a field or element.
func (m *machine) partAddress(st *state, x value, n int64) value {
	id, p, ok := m.target(st, x)
	if !ok {
		return value{}
	}
	return value{kind: address, n: id, ref: m.in.internPlace(p, n)}
}

func (m *machine) evalIndex(st *state, x, i value) value {
	if x.kind == slice {
		from, length := x.bounds()
		if i.kind == number {
			if i.n < 0 || i.n >= length {
				return value{}
			}
			return value{kind: address, n: x.n, ref: m.in.internPlace(nil, from+i.n)}
		}
		m.escape(st, x)
		return m.in.internTerm("element", 0, x, i)
	}
	if i.kind == number {
		if x.kind == symbol { // a slice from outside has no object of its own
			return m.in.internTerm("element", 0, x, i)
		}
		return m.partAddress(st, x, i.n)
	}
	m.escape(st, x)
	return m.in.internTerm("element", 0, x, i)
}

// sliceOf is x[low:high] with known bounds.
func (m *machine) sliceOf(st *state, g int, f *frame, instr *ssa.Slice) value {
	x := m.valueOf(st, f, instr.X)
	var from, length int64
	switch {
	case x.kind == slice:
		from, length = x.bounds()
	case x.kind == address:
		array, ok := pointedType(instr.X.Type()).Underlying().(*types.Array)
		if !ok || x.ref != nil || array.Len() > maxLength {
			m.escape(st, x)
			return m.freshSymbol(st, g, instr)
		}
		length = array.Len()
	case x.kind == null:
		return x
	default:
		return m.in.internTerm("slice", int64(instr.Pos()), x)
	}
	// The bounds, which have to be known, too.
	low, high := numberValue(0), numberValue(length)
	if instr.Low != nil {
		low = m.valueOf(st, f, instr.Low)
	}
	if instr.High != nil {
		high = m.valueOf(st, f, instr.High)
	}
	if low.kind != number || high.kind != number || low.n < 0 || low.n > high.n || high.n > length {
		m.escape(st, x)
		return m.freshSymbol(st, g, instr)
	}
	return m.in.internSlice(x.n, from+low.n, high.n-low.n)
}

// assert is x.(T), with or without ok.
func (m *machine) assert(instr *ssa.TypeAssert, x value) value {
	t := instr.AssertedType
	iface, toInterface := t.Underlying().(*types.Interface)
	var v, ok value
	switch x.kind {
	case boxed:
		typ := x.ref.at.(types.Type)
		switch {
		case types.IsInterface(typ): // see isErrorVariable
			v, ok = m.in.internTyped("assert ", t, x), m.in.internTyped("is ", t, x)
		case toInterface:
			v, ok = x, truthValue(types.Implements(typ, iface))
		case types.Identical(typ, t):
			v, ok = x.ref.vals[0], yes
		default:
			ok = no
		}
	case null:
		ok = no
	default:
		v, ok = m.in.internTyped("assert ", t, x), m.in.internTyped("is ", t, x)
		if ignoresResult(instr) || toInterface && isDeclaredAs(x, iface) {
			ok = yes
		}
	}
	if ok == no { // a panic, or the zero value
		if !instr.CommaOk {
			return value{}
		}
		v = zeroValue(&m.in, t)
	}
	if instr.CommaOk {
		return m.in.internTuple(v, ok)
	}
	return v
}

// isDeclaredAs reports whether a value from outside is of an interface type that has the methods of another one:
// an assertion of that holds.
//
//	func NewSeeker(r io.ReadSeeker) { … r.(io.Seeker) …
func isDeclaredAs(x value, iface *types.Interface) bool {
	if x.kind != symbol {
		return false
	}
	from, ok := x.ref.at.(ssa.Value)
	return ok && types.IsInterface(from.Type()) && types.Implements(from.Type(), iface)
}

// ignoresResult reports whether the code does not look at whether an assertion holds, as it knows that it does.
//
//	s, _ := r.(io.Seeker)
func ignoresResult(instr *ssa.TypeAssert) bool {
	return instr.CommaOk && !slices.ContainsFunc(*instr.Referrers(), func(ref ssa.Instruction) bool {
		e, ok := ref.(*ssa.Extract)
		return !ok || e.Index == 1
	})
}

// lookup is m[k] or s[i].
func (m *machine) lookup(st *state, g int, f *frame, instr *ssa.Lookup) value {
	x, k := m.valueOf(st, f, instr.X), m.valueOf(st, f, instr.Index)
	v, ok := m.in.internTerm("lookup", 0, x, k), m.in.internTerm("has", 0, x, k)
	if t, isMap := instr.X.Type().Underlying().(*types.Map); isMap {
		m.access(st, g, instr, instr.X, x, true, false)
		switch {
		case x.kind == null:
			v, ok = zeroValue(&m.in, t.Elem()), no
		case x.kind == address && !st.objs[x.n].escaped:
			v, ok = m.lookUpKey(st, x, k, t.Elem(), m.freshSymbol(st, g, instr))
		}
	}
	if instr.CommaOk {
		return m.in.internTuple(v, ok)
	}
	return v
}

// lookUpKey looks a key up in a map that the scope has made.
func (m *machine) lookUpKey(st *state, x, k value, t types.Type, unknown value) (v, ok value) {
	exact := true
	for _, p := range st.objs[x.n].pairs {
		switch eq := m.evalEqual(p.key, k); eq {
		case yes:
			return p.val, yes
		case no:
		default:
			exact = false
		}
	}
	if exact {
		return zeroValue(&m.in, t), no
	}
	m.escape(st, x)
	return m.in.internTerm("lookup", 0, unknown), m.in.internTerm("has", 0, unknown)
}

// update is m[k] = v.
func (m *machine) update(st *state, x, k, v value) {
	if x.kind != address || st.objs[x.n].escaped || len(st.objs[x.n].pairs) >= maxLength {
		m.escape(st, k)
		m.escape(st, v)
		return
	}
	o := st.editObject(x.n)
	for i, p := range o.pairs {
		if m.evalEqual(p.key, k) == yes {
			o.pairs[i].val = v
			return
		}
	}
	o.pairs = append(o.pairs, pair{k, v})
}

// remove is delete(x, k).
func (m *machine) remove(st *state, x, k value) {
	if x.kind != address || st.objs[x.n].escaped {
		return
	}
	o := st.editObject(x.n)
	for i, p := range o.pairs {
		if m.evalEqual(p.key, k) == yes {
			o.pairs = append(o.pairs[:i:i], o.pairs[i+1:]...)
			return
		}
	}
}

// removeAll is clear(x).
func (m *machine) removeAll(st *state, x value) {
	switch {
	case x.kind == address && !st.objs[x.n].escaped:
		st.editObject(x.n).pairs = nil
	case x.kind == slice:
		m.escape(st, x)
	}
}

// iterator returns an object for the state of a range over a map or string. Its first pair is how far it is, and what
// it ranges over; of a map that is known, the entries that are left follow.
func (st *state) iterator(x value) *object {
	o := &object{pairs: []pair{{numberValue(0), x}}}
	if x.kind == address && !st.objs[x.n].escaped {
		o.pairs = append(o.pairs, st.objs[x.n].pairs...)
	}
	return o
}

// advanceRange is one step of a range over a map or string. Entries that were deleted in the meantime are passed over,
// and those that were added do not come.
func (m *machine) advanceRange(st *state, g int, f *frame, instr *ssa.Next) value {
	iter := m.valueOf(st, f, instr.Iter)
	o := st.editObject(iter.n)
	n, x := o.pairs[0].key.n, o.pairs[0].val
	o.pairs[0].key = numberValue(n + 1)
	if over := instr.Iter.(*ssa.Range); isMapValue(over.X) {
		m.access(st, g, over, over.X, x, true, false)
	}
	types := instr.Type().(*types.Tuple)
	if x.kind == address && !st.objs[x.n].escaped {
		for left := o.pairs[1:]; len(left) > 0; left = left[1:] {
			at := slices.IndexFunc(st.objs[x.n].pairs, func(p pair) bool { return m.evalEqual(p.key, left[0].key) == yes })
			if at < 0 {
				continue
			}
			o.pairs = slices.Concat(o.pairs[:1], left[1:])
			return m.in.internTuple(yes, left[0].key, st.objs[x.n].pairs[at].val)
		}
		o.pairs = slices.Clone(o.pairs[:1])
		return m.in.internTuple(no, zeroValue(&m.in, types.At(1).Type()), zeroValue(&m.in, types.At(2).Type()))
	}
	if x.kind == null {
		return m.in.internTuple(no, nilValue, nilValue)
	}
	more := m.negate(m.compare(token.LEQ, m.in.internTerm("len", 0, x), numberValue(n)))
	return m.in.internTuple(more, m.in.internTerm("key", n, x), m.in.internTerm("val", n, x))
}
