package source

import (
	"go/types"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/syncapi"
)

func isArray(t types.Type) bool {
	if t == nil {
		return false
	}
	_, ok := t.Underlying().(*types.Array)
	return ok
}

// Lockable reports whether *t has Lock and Unlock without parameters.
func Lockable(t types.Type) bool {
	t = deref(t)
	if _, isInterface := t.Underlying().(*types.Interface); !isInterface {
		t = types.NewPointer(t)
	}
	set := types.NewMethodSet(t)
	for _, name := range []string{"Lock", "Unlock"} {
		m := set.Lookup(nil, name)
		if m == nil {
			return false
		}
		sig, ok := m.Type().(*types.Signature)
		if !ok || sig.Params().Len()+sig.Results().Len() > 0 {
			return false
		}
	}
	return true
}

// IsMutex reports whether t is a sync.Mutex or sync.RWMutex, or a pointer to one.
func IsMutex(t types.Type) bool {
	name := syncapi.Type(deref(types.Unalias(t)))
	return name == "sync.Mutex" || name == "sync.RWMutex"
}

// HasRLock reports whether t is a lock with a read side.
func HasRLock(t types.Type) bool {
	return types.NewMethodSet(types.NewPointer(deref(t))).Lookup(nil, "RLock") != nil
}

// IsGlobal reports whether obj is declared at package level.
func IsGlobal(obj types.Object) bool {
	return obj.Pkg() != nil && obj.Parent() == obj.Pkg().Scope()
}

// IsPointer reports whether the underlying type of t is a pointer.
func IsPointer(t types.Type) bool {
	_, ok := t.Underlying().(*types.Pointer)
	return ok
}

func deref(t types.Type) types.Type {
	if p, ok := t.Underlying().(*types.Pointer); ok {
		return p.Elem()
	}
	return t
}

// StructOf returns the struct that t is or points to.
func StructOf(t types.Type) (*types.Struct, bool) {
	st, ok := deref(types.Unalias(t)).Underlying().(*types.Struct)
	return st, ok
}

// Named returns the origin of the named type behind t or *t.
func Named(t types.Type) *types.Named {
	if n, ok := types.Unalias(deref(types.Unalias(t))).(*types.Named); ok {
		return n.Origin()
	}
	return nil
}

// OwnerName returns the name of the named type behind t or *t, with its package; "struct" where it has none.
func OwnerName(t types.Type) string {
	n := Named(t)
	if n == nil {
		return "struct"
	}
	if n.Obj().Pkg() == nil {
		return n.Obj().Name()
	}
	return n.Obj().Pkg().Path() + "." + finding.TypeName(n.Obj())
}

// HoldsLock reports whether copying a value of t copies a lock.
func HoldsLock(t types.Type, seen map[types.Type]bool) bool {
	if seen[t] || IsPointer(t) {
		return false
	}
	seen[t] = true
	if _, isInterface := t.Underlying().(*types.Interface); !isInterface && Lockable(t) {
		return true
	}
	if syncapi.Type(t) != "" {
		return true
	}
	st, ok := t.Underlying().(*types.Struct)
	for i := 0; ok && i < st.NumFields(); i++ {
		if HoldsLock(st.Field(i).Type(), seen) {
			return true
		}
	}
	return false
}

// SameNamed compares types across the variants of a package.
func SameNamed(a, b *types.Named) bool {
	return a != nil && b != nil && a.Obj().Pkg() != nil && b.Obj().Pkg() != nil &&
		finding.TypeName(a.Obj()) == finding.TypeName(b.Obj()) && a.Obj().Pkg().Path() == b.Obj().Pkg().Path()
}

// IsMap reports whether the underlying type of t is a map.
func IsMap(t types.Type) bool {
	_, ok := t.Underlying().(*types.Map)
	return ok
}
