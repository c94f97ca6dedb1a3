package stores

import (
	"go/types"

	"github.com/interlock-go/interlock/analyzers/syncapi"
)

// isMeetingPlace reports whether goroutines meet at values of the type, so that two goroutines that have different ones
// miss each other: a pointer to a WaitGroup or Cond, or to a lock with nothing beside it that it could guard:
//
//	m[k] = new(sync.Mutex)
//
// A channel is none: a list of free buffers may be replaced at any time.
func isMeetingPlace(of types.Type) bool {
	u, ok := of.Underlying().(*types.Pointer)
	return ok && (isWaitedAt(u.Elem()) || isLock(u.Elem()) || holdsMeetingPlace(u.Elem()))
}

// holdsMeetingPlace reports whether a field of the struct is waited at, or all its fields are locks.
func holdsMeetingPlace(of types.Type) bool {
	st, ok := of.Underlying().(*types.Struct)
	if !ok || isSync(of) {
		return false
	}
	locks := st.NumFields() > 0
	for f := range st.Fields() {
		if isWaitedAt(f.Type()) {
			return true
		}
		locks = locks && isLock(f.Type())
	}
	return locks
}

// isWaitedAt reports whether goroutines wait at the type of package sync for others to come to the same object.
func isWaitedAt(of types.Type) bool { return isNamed(of, "WaitGroup") || isNamed(of, "Cond") }

func isLock(of types.Type) bool { return isNamed(of, "Mutex") || isNamed(of, "RWMutex") }

// isSync reports whether the type is declared in package sync or below it.
func isSync(of types.Type) bool {
	return syncapi.Type(of) != ""
}

// isNamed reports whether of is the type of package sync with the name, or a pointer to it.
func isNamed(of types.Type, name string) bool {
	if p, ok := of.Underlying().(*types.Pointer); ok {
		of = p.Elem()
	}
	return syncapi.Type(of) == "sync."+name
}
