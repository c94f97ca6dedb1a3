package simulation

import (
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/pass/ir"
)

// plain executes an instruction that is no call, jump or operation on a channel.
func (m *machine) plain(st *state, g int, f *frame, instr ssa.Instruction) bool {
	f.pc++
	switch instr := instr.(type) {
	case *ssa.Store:
		id, p, ok := m.target(st, m.value(st, f, instr.Addr))
		if !ok {
			return false // a nil pointer: not likely
		}
		if !ir.StoresItself(instr) {
			m.access(st, g, instr, instr.Addr, value{kind: address, n: id, ref: p}, false, true)
		}
		m.store(st, id, p, m.value(st, f, instr.Val))
		return true
	case *ssa.MapUpdate:
		m.access(st, g, instr, instr.Map, m.value(st, f, instr.Map), true, true)
		m.update(st, m.value(st, f, instr.Map), m.value(st, f, instr.Key), m.value(st, f, instr.Value))
		return true
	case *ssa.DebugRef:
		return true
	case ssa.Value:
		v := m.eval(st, g, f, instr)
		if v.kind == none {
			return false
		}
		m.set(f, instr, v)
		return true
	}
	return m.drop()
}

// eval returns the value of an instruction; none if it panics, or cannot be run.
func (m *machine) eval(st *state, g int, f *frame, instr ssa.Value) value {
	switch instr := instr.(type) {
	// Instructions that make an object.
	case *ssa.Alloc:
		return m.make(st, instr, g, &object{})
	case *ssa.MakeChan:
		return m.make(st, instr, g, &object{ch: &channel{size: m.value(st, f, instr.Size)}})
	case *ssa.MakeMap:
		return m.make(st, instr, g, &object{})
	case *ssa.MakeSlice:
		if n := m.value(st, f, instr.Len); n.kind == number && n.n >= 0 && n.n <= maxLength {
			array := m.make(st, instr, g, &object{})
			if array.kind == none {
				return array
			}
			return m.in.slice(array.n, 0, n.n)
		}
		return m.in.term("made", 0, m.fresh(st, g, instr), m.value(st, f, instr.Len))
	// Instructions that make a value of others.
	case *ssa.MakeClosure:
		return m.in.closure(instr.Fn.(*ssa.Function), m.values(st, f, instr.Bindings))
	case *ssa.MakeInterface:
		return m.in.boxed(instr.X.Type(), m.value(st, f, instr.X))
	case *ssa.BinOp:
		return m.binary(instr.Op, m.value(st, f, instr.X), m.value(st, f, instr.Y))
	case *ssa.UnOp:
		return m.unary(st, g, instr, m.value(st, f, instr.X))
	case *ssa.ChangeType:
		return m.value(st, f, instr.X)
	case *ssa.ChangeInterface:
		return m.value(st, f, instr.X)
	case *ssa.Convert:
		return m.convert(instr, m.value(st, f, instr.X))
	case *ssa.MultiConvert:
		return m.convert(instr, m.value(st, f, instr.X))
	}
	return m.evalPart(st, g, f, instr)
}

// evalPart evaluates instructions that take values apart.
func (m *machine) evalPart(st *state, g int, f *frame, instr ssa.Value) value {
	switch instr := instr.(type) {
	// Fields and elements.
	case *ssa.FieldAddr:
		return m.partAddress(st, m.value(st, f, instr.X), int64(instr.Field))
	case *ssa.Field:
		return m.part(m.value(st, f, instr.X), int64(instr.Field), instr.Type())
	case *ssa.IndexAddr:
		return m.index(st, m.value(st, f, instr.X), m.value(st, f, instr.Index))
	case *ssa.Index:
		x, i := m.value(st, f, instr.X), m.value(st, f, instr.Index)
		if i.kind == number {
			return m.part(x, i.n, instr.Type())
		}
		return m.in.term("index", 0, x, i)
	case *ssa.Slice:
		return m.slice(st, g, f, instr)
	case *ssa.Extract:
		t := m.value(st, f, instr.Tuple)
		if t.kind == tuple {
			return t.ref.vals[instr.Index]
		}
		return m.in.term("extract", int64(instr.Index), t)
	case *ssa.TypeAssert:
		return m.assert(instr, m.value(st, f, instr.X))
	case *ssa.Lookup:
		return m.lookup(st, g, f, instr)
	// The iterator is an object that has one pair: how far it is, and the map or string.
	case *ssa.Range:
		o := &object{pairs: []pair{{num(0), m.value(st, f, instr.X)}}}
		return m.make(st, instr, g, o)
	case *ssa.Next:
		return m.next(st, g, f, instr)
	}
	return m.fresh(st, g, instr)
}

func (m *machine) unary(st *state, g int, instr *ssa.UnOp, x value) value {
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
				places = append(places, m.in.place(p, int64(part.Field)))
			}
		}
		for _, at := range places {
			m.access(st, g, instr, instr.X, value{kind: address, n: id, ref: at}, false, false)
		}
		return m.load(st, id, p, instr.Type())
	case token.NOT:
		return m.not(x)
	case token.SUB:
		if x.kind == number {
			return num(-x.n)
		}
	}
	return m.in.term("unary"+instr.Op.String(), 0, x)
}

func (m *machine) binary(op token.Token, x, y value) value {
	switch op {
	case token.EQL, token.NEQ, token.LSS, token.LEQ, token.GTR, token.GEQ:
		return m.compare(op, x, y)
	}
	if x.kind != number || y.kind != number {
		return m.in.term(op.String(), 0, x, y)
	}
	// Both are known; overflow does not matter here.
	switch op {
	case token.ADD:
		return num(x.n + y.n)
	case token.SUB:
		return num(x.n - y.n)
	case token.MUL:
		return num(x.n * y.n)
	case token.QUO, token.REM:
		if y.n == 0 {
			return value{}
		}
		if op == token.QUO {
			return num(x.n / y.n)
		}
		return num(x.n % y.n)
	case token.AND:
		return num(x.n & y.n)
	case token.OR:
		return num(x.n | y.n)
	case token.SHL:
		return num(x.n << min(uint64(y.n), 63))
	}
	return m.in.term(op.String(), 0, x, y)
}

// convert keeps numbers and pointers.
func (m *machine) convert(instr ssa.Value, x value) value {
	if b, ok := instr.Type().Underlying().(*types.Basic); ok {
		if x.kind == number && b.Info()&types.IsInteger != 0 {
			return x
		}
		return m.in.typed("convert ", instr.Type(), x)
	}
	if _, ok := instr.Type().Underlying().(*types.Pointer); ok {
		return x
	}
	return m.in.typed("convert ", instr.Type(), x)
}

// partAddress is the address of a field or element.
func (m *machine) partAddress(st *state, x value, n int64) value {
	id, p, ok := m.target(st, x)
	if !ok {
		return value{}
	}
	return value{kind: address, n: id, ref: m.in.place(p, n)}
}

func (m *machine) index(st *state, x, i value) value {
	if x.kind == slice {
		from, length := x.bounds()
		if i.kind == number {
			if i.n < 0 || i.n >= length {
				return value{}
			}
			return value{kind: address, n: x.n, ref: m.in.place(nil, from+i.n)}
		}
		m.escape(st, x)
		return m.in.term("element", 0, x, i)
	}
	if i.kind == number {
		if x.kind == symbol { // a slice from outside has no object of its own
			return m.in.term("element", 0, x, i)
		}
		return m.partAddress(st, x, i.n)
	}
	m.escape(st, x)
	return m.in.term("element", 0, x, i)
}

// slice is x[low:high] with known bounds.
func (m *machine) slice(st *state, g int, f *frame, instr *ssa.Slice) value {
	x := m.value(st, f, instr.X)
	var from, length int64
	switch {
	case x.kind == slice:
		from, length = x.bounds()
	case x.kind == address:
		array, ok := elem(instr.X.Type()).Underlying().(*types.Array)
		if !ok || x.ref != nil || array.Len() > maxLength {
			m.escape(st, x)
			return m.fresh(st, g, instr)
		}
		length = array.Len()
	case x.kind == null:
		return x
	default:
		return m.in.term("slice", int64(instr.Pos()), x)
	}
	// The bounds, which have to be known, too.
	low, high := num(0), num(length)
	if instr.Low != nil {
		low = m.value(st, f, instr.Low)
	}
	if instr.High != nil {
		high = m.value(st, f, instr.High)
	}
	if low.kind != number || high.kind != number || low.n < 0 || low.n > high.n || high.n > length {
		m.escape(st, x)
		return m.fresh(st, g, instr)
	}
	return m.in.slice(x.n, from+low.n, high.n-low.n)
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
			v, ok = m.in.typed("assert ", t, x), m.in.typed("is ", t, x)
		case toInterface:
			v, ok = x, truth(types.Implements(typ, iface))
		case types.Identical(typ, t):
			v, ok = x.ref.vals[0], yes
		default:
			ok = no
		}
	case null:
		ok = no
	default:
		v, ok = m.in.typed("assert ", t, x), m.in.typed("is ", t, x)
		if ignoresResult(instr) || toInterface && isDeclaredAs(x, iface) {
			ok = yes
		}
	}
	if ok == no { // a panic, or the zero value
		if !instr.CommaOk {
			return value{}
		}
		v = zero(&m.in, t)
	}
	if instr.CommaOk {
		return m.in.tuple(v, ok)
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
	x, k := m.value(st, f, instr.X), m.value(st, f, instr.Index)
	v, ok := m.in.term("lookup", 0, x, k), m.in.term("has", 0, x, k)
	if t, isMap := instr.X.Type().Underlying().(*types.Map); isMap {
		m.access(st, g, instr, instr.X, x, true, false)
		switch {
		case x.kind == null:
			v, ok = zero(&m.in, t.Elem()), no
		case x.kind == address && !st.objs[x.n].escaped:
			v, ok = m.find(st, x, k, t.Elem(), m.fresh(st, g, instr))
		}
	}
	if instr.CommaOk {
		return m.in.tuple(v, ok)
	}
	return v
}

// find looks a key up in a map that the scope has made.
func (m *machine) find(st *state, x, k value, t types.Type, unknown value) (v, ok value) {
	exact := true
	for _, p := range st.objs[x.n].pairs {
		switch eq := m.equal(p.key, k); eq {
		case yes:
			return p.val, yes
		case no:
		default:
			exact = false
		}
	}
	if exact {
		return zero(&m.in, t), no
	}
	m.escape(st, x)
	return m.in.term("lookup", 0, unknown), m.in.term("has", 0, unknown)
}

// update is m[k] = v.
func (m *machine) update(st *state, x, k, v value) {
	if x.kind != address {
		m.escape(st, v)
		return
	}
	o := st.edit(x.n)
	if o.escaped || len(o.pairs) >= maxLength {
		m.escape(st, v)
		return
	}
	for i, p := range o.pairs {
		if m.equal(p.key, k) == yes {
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
	o := st.edit(x.n)
	for i, p := range o.pairs {
		if m.equal(p.key, k) == yes {
			o.pairs = append(o.pairs[:i:i], o.pairs[i+1:]...)
			return
		}
	}
}

// next is one step of a range over a map or string.
func (m *machine) next(st *state, g int, f *frame, instr *ssa.Next) value {
	iter := m.value(st, f, instr.Iter)
	o := st.edit(iter.n)
	n, x := o.pairs[0].key.n, o.pairs[0].val
	o.pairs[0].key = num(n + 1)
	if over := instr.Iter.(*ssa.Range); isMap(over.X) {
		m.access(st, g, over, over.X, x, true, false)
	}
	types := instr.Type().(*types.Tuple)
	if x.kind == address && !st.objs[x.n].escaped {
		if n < int64(len(st.objs[x.n].pairs)) {
			p := st.objs[x.n].pairs[n]
			return m.in.tuple(yes, p.key, p.val)
		}
		return m.in.tuple(no, zero(&m.in, types.At(1).Type()), zero(&m.in, types.At(2).Type()))
	}
	if x.kind == null {
		return m.in.tuple(no, nilValue, nilValue)
	}
	more := m.not(m.compare(token.LEQ, m.in.term("len", 0, x), num(n)))
	return m.in.tuple(more, m.in.term("key", n, x), m.in.term("val", n, x))
}
