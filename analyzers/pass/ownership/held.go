package ownership

import (
	"go/token"
	"slices"

	"golang.org/x/tools/go/ssa"
)

// Held returns how far the map that the variable at addr holds is known to others when instruction at runs: as
// far as the variable, and as the maps that are stored there.
//
//	c := *q
//	c.m[k]++ // c is this function's own, and the map that it holds is not
//
//	t := &T{m: shared}
//	t.m[k]++ // likewise
//
// As an opinion, the map in a new object is as new as itself, unless the object is a copy of another one.
func (r *Result) Held(addr ssa.Value, at ssa.Instruction) Level {
	r.mu.Lock()
	defer r.mu.Unlock()
	level := r.levelAt(addr, at)
	switch {
	case level != Fresh:
		return level
	case r.copied(addr, at, map[ssa.Value]bool{}):
		return Shared
	case !r.strict:
		return Fresh
	}
	field, ok := addr.(*ssa.FieldAddr)
	if !ok {
		return Handed
	}
	object, ok := field.X.(*ssa.Alloc)
	if !ok {
		return Handed
	}
	if !r.holdsOwn(heldKey{object, field.Field}, at) {
		return Handed
	}
	return Fresh
}

// holdsOwn reports whether all that is stored in a field is known to this function alone at instruction at.
func (r *Result) holdsOwn(key heldKey, at ssa.Instruction) bool {
	known, ok := r.held[key]
	if !ok {
		known.all = known.collect(key.object, key.field, map[ssa.Value]bool{})
		r.held[key] = known
	}
	return known.all && !slices.ContainsFunc(known.values, func(v ssa.Value) bool { return r.levelAt(v, at) != Fresh })
}

type heldKey struct {
	object *ssa.Alloc
	field  int
}

// stored lists the values that are stored in a field of an object that its function has allocated: all is false where
// a store may be elsewhere. It is collected once, however often the field is accessed.
type stored struct {
	values []ssa.Value
	all    bool
}

// collect adds the values that are stored in the field of object, and reports whether these are all.
func (s *stored) collect(object *ssa.Alloc, field int, seen map[ssa.Value]bool) bool {
	if seen[object] {
		return true // a loop: the other stores decide
	}
	seen[object] = true
	return !slices.ContainsFunc(*object.Referrers(), func(ref ssa.Instruction) bool {
		switch ref := ref.(type) {
		case *ssa.FieldAddr:
			return ref.Field == field && !s.collectAt(ref)
		case *ssa.Store:
			return ref.Addr != object || !s.collectCopy(ref.Val, field, seen)
		case *ssa.UnOp, *ssa.DebugRef:
			return false
		}
		return true // a closure or a callee may store there
	})
}

// collectAt adds the values that are stored in the field at addr, and reports whether it is only loaded beside that.
func (s *stored) collectAt(addr *ssa.FieldAddr) bool {
	return !slices.ContainsFunc(*addr.Referrers(), func(ref ssa.Instruction) bool {
		switch ref := ref.(type) {
		case *ssa.Store:
			s.values = append(s.values, ref.Val)
			return ref.Addr != addr
		case *ssa.UnOp, *ssa.DebugRef:
			return false
		}
		return true
	})
}

// collectCopy adds the value in a field of v, a struct, and reports whether that is known: v is a zero value, or a
// literal that was built in a variable of its own.
func (s *stored) collectCopy(v ssa.Value, field int, seen map[ssa.Value]bool) bool {
	switch v := v.(type) {
	case *ssa.Const:
		return true
	case *ssa.UnOp:
		from, ok := v.X.(*ssa.Alloc)
		return ok && v.Op == token.MUL && s.collect(from, field, seen)
	}
	return false
}
