package callgraph

import (
	"go/types"

	"github.com/interlock-go/interlock/analyzers/internal/knowledge"
)

// NeverWaits reports whether a library function or method neither waits nor does I/O by
// itself; it may call methods of its arguments, see [knowledge.CallsBack].
func NeverWaits(fn *types.Func) bool { return knowledge.NeverWaits(fn) }

// CallsByName reports whether a library function may call any exported method of an argument.
func CallsByName(fn *types.Func) bool { return knowledge.CallsByName(fn) }

// ReturnsOwnCode reports whether the functions that a library function returns are the library's own.
func ReturnsOwnCode(fn *types.Func) bool { return knowledge.ReturnsOwnCode(fn) }

// Lasts reports whether a library function changes state that it is not handed, or makes a value that has to be ended.
func Lasts(fn *types.Func) bool { return knowledge.Lasts(fn) }

// RunsCallback reports whether a library function does nothing else than to compute and to call the functions that it
// is handed, all of them before it returns.
func RunsCallback(fn *types.Func) bool {
	does, ok := knowledge.CallbackOf(fn)
	return ok && does == knowledge.Called && knowledge.NeverWaits(fn)
}

// StartsCallback reports whether a library function has another goroutine call the functions that it is handed, as
// time.AfterFunc does.
func StartsCallback(fn *types.Func) bool {
	does, ok := knowledge.CallbackOf(fn)
	return ok && does == knowledge.Started
}

// LibraryWrites reports whether a library function or method writes to the object that its i-th
// argument refers to, the receiver of a method being the first. It does not know all functions.
func LibraryWrites(fn *types.Func, i int) (writes, known bool) {
	path, recv := fn.Pkg().Path(), fn.Signature().Recv()
	switch {
	case recv == nil:
		return knowledge.WritesArgument(fn, i)
	case knowledge.LocksItself(path):
		return false, true
	}
	if writes, known = knowledge.Container(types.TypeString(recv.Type(), nil), fn.Name()); known {
		return writes && i == 0, true
	}
	// A method with a pointer receiver may write to it; so may one of reflect.Value.
	if _, isPointer := recv.Type().Underlying().(*types.Pointer); isPointer || path == "reflect" {
		return false, false
	}
	return knowledge.WritesArgument(fn, i)
}
