package simulation

import (
	"go/types"
)

// builtin returns the result of a builtin function.
func (m *machine) builtin(st *state, g int, d deferred) value {
	switch d.fn.ref.name {
	case "len", "cap":
		m.noteMapAccess(st, g, d, false)
		return m.length(st, d.fn.ref.name, d.args[0])
	case "append":
		return m.appended(st, g, d)
	case "ssa:wrapnilchk":
		return d.args[0]
	case "clear":
		m.noteMapAccess(st, g, d, true)
		m.removeAll(st, d.args[0])
	case "copy": // what the elements are is not known any more
		m.escape(st, d.args[0])
		m.escape(st, d.args[1])
	case "delete":
		m.noteMapAccess(st, g, d, true)
		m.remove(st, d.args[0], d.args[1])
	}
	return m.freshSymbol(st, g, d.call)
}

func (m *machine) length(st *state, name string, x value) value {
	switch x.kind {
	case null:
		return no
	case slice:
		_, n := x.bounds()
		return numberValue(n)
	case address:
		o := st.objs[x.n]
		switch {
		case o.escaped:
		case o.ch != nil && name == "cap":
			return o.ch.size
		case o.ch != nil:
			return numberValue(int64(len(o.ch.buf)))
		default:
			return numberValue(int64(len(o.pairs)))
		}
	case symbol:
		if x.ref.name == "made" && name == "len" {
			return x.ref.vals[1]
		}
	}
	return m.in.internTerm(name, 0, x)
}

// appended makes a new array, as if the old one were always full.
func (m *machine) appended(st *state, g int, d deferred) value {
	x, y := d.args[0], d.args[1]
	known := func(v value) bool { return v.kind == slice || v.kind == null }
	if !known(x) || !known(y) {
		m.escape(st, x)
		m.escape(st, y)
		return m.freshSymbol(st, g, d.call)
	}
	typ, ok := d.call.Common().Args[0].Type().Underlying().(*types.Slice)
	if !ok {
		return m.freshSymbol(st, g, d.call)
	}
	// All elements, old and new.
	var vals []value
	for _, s := range []value{x, y} {
		if s.kind == slice {
			from, n := s.bounds()
			for i := range n {
				vals = append(vals, m.loadPlace(st, s.n, m.in.internPlace(nil, from+i), typ.Elem()))
			}
		}
	}
	if len(vals) > maxLength {
		return value{}
	}
	array := m.makeObject(st, d.call, g, &object{})
	if array.kind == none {
		return array
	}
	for i, v := range vals {
		m.storePlace(st, array.n, m.in.internPlace(nil, int64(i)), v)
	}
	return m.in.internSlice(array.n, 0, int64(len(vals)))
}
