package simulation

import (
	"go/types"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/pass/ir"
)

// atomics are the operations on a cell: the values that they return and leave there.
var atomics = map[string]func(m *machine, old value, args []value) (result, left value){
	"Load":  func(m *machine, old value, _ []value) (value, value) { return old, old },
	"Store": func(m *machine, _ value, args []value) (value, value) { return nilValue, args[0] },
	"Swap":  func(m *machine, old value, args []value) (value, value) { return old, args[0] },
	"Add": func(m *machine, old value, args []value) (value, value) {
		if old.kind == number && args[0].kind == number {
			n := numberValue(old.n + args[0].n)
			return n, n
		}
		n := m.in.internTerm("+", 0, old, args[0])
		return n, n
	},
	"CompareAndSwap": func(m *machine, old value, args []value) (value, value) {
		switch eq := m.evalEqual(old, args[0]); eq {
		case yes:
			return yes, args[1]
		case no:
			return no, old
		default:
			return eq, m.in.internTerm("swapped", 0, old, args[1])
		}
	},
}

// atomically keeps the value in the cell of the atomic itself.
func atomically(f func(*machine, value, []value) (value, value)) model {
	return func(m *machine, st *state, g int, d deferred, inLine bool) bool {
		id, p, ok := m.target(st, d.args[0])
		if !ok {
			return false
		}
		p = m.in.internPlace(p, -1)
		t := types.Type(types.Typ[types.Int64])
		if v, ok := d.call.(ssa.Value); ok && !ir.IsBool(v.Type()) {
			t = v.Type()
		}
		st.synchronise(g)
		result, left := f(m, m.loadPlace(st, id, p, t), d.args[1:])
		m.storePlace(st, id, p, left)
		return m.finish(st, g, d, inLine, result)
	}
}

// entries are the operations on an entry of a sync.Map, which is kept as a map: their result for the value that
// they find, and their change of the table.
var entries = map[string]func(m *machine, st *state, table value, args []value, old, found value) value{
	"Load": func(m *machine, _ *state, _ value, _ []value, old, found value) value {
		return m.in.internTuple(old, found)
	},
	"Store": func(m *machine, st *state, table value, args []value, _, _ value) value {
		m.update(st, table, args[0], args[1])
		return nilValue
	},
	"LoadOrStore": func(m *machine, st *state, table value, args []value, old, found value) value {
		switch found {
		case yes:
			return m.in.internTuple(old, yes)
		case no:
			m.update(st, table, args[0], args[1])
			return m.in.internTuple(args[1], no)
		}
		m.escape(st, args[1])
		return m.in.internTuple(old, found)
	},
	"LoadAndDelete": func(m *machine, st *state, table value, args []value, old, found value) value {
		m.remove(st, table, args[0])
		return m.in.internTuple(old, found)
	},
	"Delete": func(m *machine, st *state, table value, args []value, _, _ value) value {
		m.remove(st, table, args[0])
		return nilValue
	},
}

// onEntry keeps the entries of a sync.Map in an object of its own.
func onEntry(f func(*machine, *state, value, []value, value, value) value) model {
	return func(m *machine, st *state, g int, d deferred, inLine bool) bool {
		id, p, ok := m.target(st, d.args[0])
		if !ok || st.objs[id].escaped {
			return m.opaque(st, g, d, inLine)
		}
		p = m.in.internPlace(p, -1)
		table := m.loadPlace(st, id, p, types.Typ[types.UntypedNil])
		if table.kind != address {
			if table = m.makeObject(st, d.call, g, &object{}); table.kind == none {
				return m.dropState()
			}
			m.storePlace(st, id, p, table)
		}
		if st.objs[table.n].escaped {
			return m.opaque(st, g, d, inLine)
		}
		st.synchronise(g)
		old, found := m.lookUpKey(st, table, d.args[1], types.NewInterfaceType(nil, nil), m.freshSymbol(st, g, d.call))
		return m.finish(st, g, d, inLine, f(m, st, table, d.args[1:], old, found))
	}
}
