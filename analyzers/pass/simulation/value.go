package simulation

import (
	"encoding/binary"
	"go/constant"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"
)

type kind uint8

const (
	none    kind = iota
	number       // n: an integer; a bool is 0 or 1
	text         // ref: another constant
	null         // nil of any type
	address      // n: the object, ref: the place in it; channels and maps have none
	slice        // n: the object of the array, ref: its bounds
	closure      // ref.fn, ref.vals: the captured values
	tuple        // ref.vals
	record       // ref.vals: places and their values, in turn; other fields are zero
	boxed        // ref.typ, ref.vals[0]: the value in an interface
	symbol       // ref: something unknown
)

// value is comparable: equal values are equal in Go.
type value struct {
	kind kind
	n    int64
	ref  *ref
}

var (
	nilValue = value{kind: null}
	no       = value{kind: number}
	yes      = value{kind: number, n: 1}
)

func numberValue(n int64) value { return value{kind: number, n: n} }

func truthValue(b bool) value {
	if b {
		return yes
	}
	return no
}

// ref is the part of a value that is made once: two refs with one content are one.
type ref struct {
	id     int
	name   string
	at     any // an instruction, function or type
	parent *ref
	n      int64
	vals   []value
	// roots are the symbols, made by one instruction, that a symbol depends on.
	roots []*ref
}

type refKey struct {
	tag    byte
	name   string
	at     any
	parent *ref
	n      int64
	vals   string
}

// interner makes refs.
type interner struct{ refs map[refKey]*ref }

func (in *interner) intern(tag byte, name string, at any, parent *ref, n int64, vals ...value) *ref {
	var packed []byte
	for _, v := range vals {
		packed = append(packed, byte(v.kind))
		packed = binary.AppendVarint(packed, v.n)
		if v.ref != nil {
			packed = binary.AppendVarint(packed, int64(v.ref.id))
		}
	}
	key := refKey{tag, name, at, parent, n, string(packed)}
	if r := in.refs[key]; r != nil {
		return r
	}
	r := &ref{id: len(in.refs) + 1, name: name, at: at, parent: parent, n: n, vals: vals}
	in.refs[key] = r
	if tag == 's' {
		r.roots = rootsOf(r, vals)
	}
	return r
}

// rootsOf returns the basic symbols under r, which is one itself if it has no parts.
func rootsOf(r *ref, vals []value) []*ref {
	var roots []*ref
	for _, v := range vals {
		if v.kind == symbol {
			for _, root := range v.ref.roots { // each once: x = x*x doubles them else
				if !slices.Contains(roots, root) {
					roots = append(roots, root)
				}
			}
		}
	}
	if r.at != nil {
		roots = append(roots, r)
	}
	return roots
}

// symbolAt is the unknown outcome of at, an instruction that goroutine g
// executes in a frame of this depth.
func (in *interner) symbolAt(at any, g, depth int) value {
	return value{kind: symbol, ref: in.intern('s', "", at, nil, int64(g)<<16|int64(depth))}
}

// internTerm returns the result of an operation on values of which one is unknown.
func (in *interner) internTerm(name string, n int64, vals ...value) value {
	return value{kind: symbol, ref: in.intern('s', name, nil, nil, n, vals...)}
}

// internTyped is a term that depends on a type.
func (in *interner) internTyped(name string, t types.Type, v value) value {
	return value{kind: symbol, ref: in.intern('s', name+types.TypeString(t, nil), nil, nil, 0, v)}
}

// internPlace is field or element n of the struct or array at parent; nil is the object itself.
func (in *interner) internPlace(parent *ref, n int64) *ref { return in.intern('p', "", nil, parent, n) }

func (in *interner) closure(fn *ssa.Function, bound []value) value {
	return value{kind: closure, ref: in.intern('c', "", fn, nil, 0, bound...)}
}

// special is a function value that the simulation makes itself.
func (in *interner) special(name string, bound ...value) value {
	return value{kind: closure, ref: in.intern('c', name, nil, nil, 0, bound...)}
}

func (in *interner) internTuple(vals ...value) value {
	return value{kind: tuple, ref: in.intern('t', "", nil, nil, 0, vals...)}
}

func (in *interner) record(cells []value) value {
	return value{kind: record, ref: in.intern('r', "", nil, nil, 0, cells...)}
}

func (in *interner) internBoxed(t types.Type, v value) value {
	return value{kind: boxed, ref: in.intern('b', "", t, nil, 0, v)}
}

func (in *interner) internSlice(object, from, length int64) value {
	return value{kind: slice, n: object, ref: in.intern('l', "", nil, nil, from<<32|length)}
}

func (v value) bounds() (from, length int64) { return v.ref.n >> 32, v.ref.n & 0xffffffff }

// constant is the value of a constant of the source.
func (in *interner) constant(c *ssa.Const) value {
	if c.Value == nil {
		return zeroValue(in, c.Type())
	}
	switch c.Value.Kind() {
	case constant.Bool:
		return truthValue(constant.BoolVal(c.Value))
	case constant.Int:
		if n, ok := constant.Int64Val(c.Value); ok {
			return numberValue(n)
		}
	case constant.Float:
		if constant.Sign(c.Value) == 0 {
			return no // as the zero value of the type
		}
	}
	return value{kind: text, ref: in.intern('x', c.Value.ExactString(), nil, nil, 0)}
}

// zeroValue is the zero value of a type.
func zeroValue(in *interner, t types.Type) value {
	switch u := t.Underlying().(type) {
	case *types.Basic:
		switch {
		case u.Info()&(types.IsInteger|types.IsFloat|types.IsBoolean) != 0:
			return no
		case u.Kind() == types.UnsafePointer, u.Kind() == types.UntypedNil:
			return nilValue
		}
		return value{kind: text, ref: in.intern('x', `""`, nil, nil, 0)}
	case *types.Struct, *types.Array:
		return in.record(nil)
	case *types.Tuple:
		var vals []value
		for v := range u.Variables() {
			vals = append(vals, zeroValue(in, v.Type()))
		}
		return in.internTuple(vals...)
	}
	return nilValue
}
