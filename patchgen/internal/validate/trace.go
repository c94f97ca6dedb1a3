package validate

import (
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
)

// origin is where a value leads back to.
type origin struct {
	root ssa.Value // the address of the variable, or a parameter
	// level counts the references between root and the memory that the value
	// refers to: 0 is the variable itself (or what the parameter points to), 1
	// the entries of its map or the elements of its slice, and so on.
	level int
}

// tracer follows values back to roots.
type tracer struct {
	isRoot func(ssa.Value) bool
}

// Bounds of a trace: references followed, and values on the way.
const (
	maxLevel  = 3
	maxTraced = 200
)

// origins lists the roots that v leads back to, each with its lowest level.
func (t tracer) origins(v ssa.Value) []origin {
	var found []origin
	seen := map[ssa.Value]bool{}
	var visit func(v ssa.Value, level int)
	visit = func(v ssa.Value, level int) {
		if v == nil || level > maxLevel || seen[v] || len(seen) > maxTraced {
			return
		}
		seen[v] = true
		if t.isRoot(v) {
			i := slices.IndexFunc(found, func(o origin) bool { return o.root == v })
			if i < 0 {
				found = append(found, origin{v, level})
			} else {
				found[i].level = min(found[i].level, level)
			}
			return
		}
		next, deeper := back(v)
		if deeper {
			level++
		}
		for _, w := range next {
			visit(w, level)
		}
	}
	visit(v, 0)
	return found
}

// back lists the values that v is derived from, and reports whether there is a
// reference in between.
func back(v ssa.Value) (from []ssa.Value, deeper bool) {
	switch v := v.(type) {
	case *ssa.FieldAddr:
		return []ssa.Value{v.X}, false
	case *ssa.Field:
		return []ssa.Value{v.X}, false
	case *ssa.IndexAddr:
		return []ssa.Value{v.X}, false
	case *ssa.Index:
		return []ssa.Value{v.X}, false
	case *ssa.Slice:
		return []ssa.Value{v.X}, false
	case *ssa.ChangeType:
		return []ssa.Value{v.X}, false
	case *ssa.ChangeInterface:
		return []ssa.Value{v.X}, false
	case *ssa.MakeInterface:
		return []ssa.Value{v.X}, false
	case *ssa.Convert:
		return []ssa.Value{v.X}, false
	case *ssa.TypeAssert:
		return []ssa.Value{v.X}, false
	case *ssa.Range:
		return []ssa.Value{v.X}, false
	case *ssa.Phi:
		return v.Edges, false
	case *ssa.FreeVar:
		return []ssa.Value{accesspath.Binding(v)}, false
	case *ssa.Lookup:
		return []ssa.Value{v.X}, true
	case *ssa.Next:
		return []ssa.Value{v.Iter}, true
	case *ssa.Extract:
		return []ssa.Value{v.Tuple}, false
	case *ssa.Call:
		// append(s, …) is s, perhaps with its elements in another place.
		if b, ok := v.Call.Value.(*ssa.Builtin); ok && b.Name() == "append" {
			return v.Call.Args[:1], false
		}
	case *ssa.UnOp:
		if v.Op != token.MUL || !refers(v.Type()) {
			return nil, false
		}
		if cell := cellOf(v.X); cell != nil {
			return accesspath.Stored(cell), false
		}
		return []ssa.Value{v.X}, true
	}
	return nil, false
}

// cellOf returns the local variable at addr, seen from a closure too; nil if it
// is none.
func cellOf(addr ssa.Value) *ssa.Alloc {
	for {
		fv, ok := addr.(*ssa.FreeVar)
		if !ok {
			break
		}
		addr = accesspath.Binding(fv)
	}
	cell, _ := addr.(*ssa.Alloc)
	return cell
}

// refers reports whether a value of type t may lead to other memory. Strings,
// functions and channels are left out: nothing is written through the first,
// and the others are used by calling and sending.
func refers(t types.Type) bool { return refersWithin(t, 0) }

func refersWithin(t types.Type, depth int) bool {
	if depth > maxLevel {
		return true
	}
	switch u := t.Underlying().(type) {
	case *types.Pointer, *types.Slice, *types.Map, *types.Interface:
		return true
	case *types.Array:
		return refersWithin(u.Elem(), depth+1)
	case *types.Struct:
		for f := range u.Fields() {
			if refersWithin(f.Type(), depth+1) {
				return true
			}
		}
	case *types.Tuple:
		for v := range u.Variables() {
			if refersWithin(v.Type(), depth+1) {
				return true
			}
		}
	}
	return false
}
