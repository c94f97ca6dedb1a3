package simulation

import (
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/pass/ir"
)

// Synchronises reports whether fn itself, without its callees, has an operation that starts a goroutine, waits, or
// wakes one that waits. A method that is called by an interface may be that of a lock.
func Synchronises(fn *ssa.Function) bool {
	for instr := range ir.Instructions(fn) {
		switch instr := instr.(type) {
		case *ssa.Go, *ssa.Send, *ssa.Select:
			return true
		case *ssa.UnOp:
			if instr.Op == token.ARROW {
				return true
			}
		case ssa.CallInstruction:
			if synchronisesBy(instr.Common()) {
				return true
			}
		}
	}
	return false
}

// methodsOfLocks are the names of the methods of locks, groups and the like that have a model; see init.
var methodsOfLocks = map[string]bool{}

func synchronisesBy(call *ssa.CallCommon) bool {
	if b, ok := call.Value.(*ssa.Builtin); ok {
		return b.Name() == "close"
	}
	if call.IsInvoke() {
		return methodsOfLocks[call.Method.Name()]
	}
	fn := call.StaticCallee()
	if fn == nil || fn.Pkg == nil && fn.Object() == nil {
		return false
	}
	obj, ok := fn.Object().(*types.Func)
	if !ok || obj.Pkg() == nil {
		return false
	}
	switch obj.Pkg().Path() {
	case "sync", "golang.org/x/sync/errgroup":
		return true
	case "time":
		return obj.Name() == "AfterFunc"
	}
	return false
}
