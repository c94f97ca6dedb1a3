// Package syncapi recognises what packages sync and sync/atomic declare, in typed code.
//
// Cost: constant for a type or function.
package syncapi

import (
	"go/types"
	"strings"
)

// Type returns the type of package sync or sync/atomic that t is, such as "sync.WaitGroup" or "atomic.Int64"; "" for
// others, pointers among them.
func Type(t types.Type) string {
	n, ok := types.Unalias(t).(*types.Named)
	if !ok || !isDeclaredIn(n.Obj(), "sync", "sync/atomic") {
		return ""
	}
	return n.Obj().Pkg().Name() + "." + n.Obj().Name()
}

// operations are those of package sync/atomic.
var operations = [...]string{"Load", "Store", "Add", "Swap", "CompareAndSwap", "And", "Or"}

// Atomic returns the operation of package sync/atomic that the function or method carries out: Load, Store, Add, Swap,
// CompareAndSwap, And or Or; "" for others. LoadInt32 and Int32.Load are both Load.
func Atomic(fn *types.Func) string {
	if fn == nil || !isDeclaredIn(fn, "sync/atomic") {
		return ""
	}
	for _, operation := range operations {
		if strings.HasPrefix(fn.Name(), operation) {
			return operation
		}
	}
	return ""
}

func isDeclaredIn(obj types.Object, paths ...string) bool {
	for _, path := range paths {
		if obj.Pkg() != nil && obj.Pkg().Path() == path {
			return true
		}
	}
	return false
}
