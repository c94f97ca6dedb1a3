package summary

import (
	"go/types"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/pass/accesses"
	"github.com/interlock-go/interlock/analyzers/pass/lockset"
	"github.com/interlock-go/interlock/analyzers/pass/stationary"
)

// guard is a lock in relation to a field: the one of that class in the object
// that the field lies in, or a package variable.
type guard string

// guardedFields finds the fields of the package with one lock held at all accesses, except those to objects
// that no other goroutine shares yet.
func guardedFields(list *accesses.List, still *stationary.Fields) map[*types.Var]bool {
	guards := map[*types.Var]map[guard]bool{} // that all accesses so far hold
	writes := map[*types.Var]bool{}
	for _, a := range list.All {
		if !still.Named(a.Obj) || a.Private {
			continue
		}
		writes[a.Obj] = writes[a.Obj] || a.Mode == finding.Write
		held := guardsOf(list, a)
		common, seen := guards[a.Obj]
		if !seen {
			guards[a.Obj] = held
			continue
		}
		for g := range common {
			if !held[g] {
				delete(common, g)
			}
		}
	}
	guarded := map[*types.Var]bool{}
	for f, common := range guards {
		guarded[f] = len(common) > 0 && writes[f] && !composite(f.Type())
	}
	return guarded
}

// composite reports whether parts of a field of type t have names of their own.
func composite(t types.Type) bool {
	switch t.Underlying().(type) {
	case *types.Struct, *types.Array:
		return true
	}
	return false
}

// guardsOf lists the locks that a holds in a mode that protects it.
func guardsOf(list *accesses.List, a *accesses.Access) map[guard]bool {
	guards := map[guard]bool{}
	for _, h := range a.Locks.Held() {
		if h.Class != "" && a.Near(h) && !a.Atomic() && !(h.Read && a.Mode == finding.Write) && takenHere(list, a, h) {
			guards[guard(h.Class)] = true
		}
	}
	return guards
}

// takenHere reports whether the function took the lock itself, or all its
// callers did, in tests too.
func takenHere(list *accesses.List, a *accesses.Access, h lockset.Held) bool {
	if h.Since != nil {
		return true
	}
	all := list.Graph.WithTests()
	return all.Closed(a.Fn) && len(all.Sites(a.Fn)) == len(list.Graph.Sites(a.Fn))
}
