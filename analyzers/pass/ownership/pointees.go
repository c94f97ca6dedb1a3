package ownership

import (
	"go/types"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/internal/knowledge"
	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
)

// findPointees collects the values that are stored, outside of tests, in fields that point to structs with a lock,
// which are made to be shared.
func (r *Result) findPointees() {
	r.stores = map[*types.Var][]*ssa.Store{}
	r.sharing = map[*types.Var]bool{}
	for _, fn := range r.prog.Funcs {
		if r.prog.InTest(fn) {
			continue
		}
		for instr := range ir.Instructions(fn) {
			st, ok := instr.(*ssa.Store)
			if !ok {
				continue
			}
			if field := toLocked(st.Addr); field != nil {
				r.stores[field] = append(r.stores[field], st)
			}
		}
	}
}

// toLocked returns the field at addr if it points to a struct that has a lock; nil for others.
func toLocked(addr ssa.Value) *types.Var {
	fa, ok := addr.(*ssa.FieldAddr)
	if !ok {
		return nil
	}
	field := accesspath.FieldOf(fa)
	if p, ok := field.Type().Underlying().(*types.Pointer); !ok || !hasLock(p.Elem(), 0) {
		return nil
	}
	return field
}

// hasLock reports whether t is a mutex or a struct that has one, or points to one.
func hasLock(t types.Type, depth int) bool {
	switch types.TypeString(t, nil) {
	case "sync.Mutex", "sync.RWMutex", "*sync.Mutex", "*sync.RWMutex":
		return true
	}
	st, ok := t.Underlying().(*types.Struct)
	if !ok || depth > knowledge.NestedStructs {
		return false
	}
	for f := range st.Fields() {
		if hasLock(f.Type(), depth+1) {
			return true
		}
	}
	return false
}

// pointsToShared reports whether the field at addr leads to an object that others can reach, however new the object is
// that has the field: it has a lock, and all that the package stores there is shared.
//
//	func (e *entry) dup() *entry { return &entry{log: e.log} }
//
//	e.dup().log.hooks[k] // the log of all entries
func (r *Result) pointsToShared(addr ssa.Value) bool {
	field := toLocked(addr)
	return field != nil && r.alwaysShared(field)
}

// LeadsToShared reports whether an object of type t, or to which t points, has a field that leads to an object that
// others can reach, however new it is itself.
func (r *Result) LeadsToShared(t types.Type) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	st, ok := ir.Pointee(t).Underlying().(*types.Struct)
	if !ok {
		return false
	}
	for f := range st.Fields() {
		if r.alwaysShared(f.Origin()) {
			return true
		}
	}
	return false
}

// alwaysShared reports whether all that is stored in a field of those that findPointees has found is shared.
func (r *Result) alwaysShared(field *types.Var) bool {
	if len(r.stores[field]) == 0 {
		return false
	}
	if shared, known := r.sharing[field]; known {
		return shared
	}
	r.sharing[field] = true // a value that was loaded from the field itself adds nothing
	for _, st := range r.stores[field] {
		if r.levelOf(st.Val, st, map[ssa.Value]bool{}) != Shared {
			r.sharing[field] = false
			break
		}
	}
	return r.sharing[field]
}
