package captured

import (
	"go/token"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/internal/knowledge"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
)

// waits reports whether instr may order the goroutine with others: it
// receives, selects, or calls what may. Unknown function values may.
func waits(instr ssa.Instruction, depth int) bool {
	switch instr := instr.(type) {
	case *ssa.UnOp:
		return instr.Op == token.ARROW
	case *ssa.Select, *ssa.Send:
		return true
	case *ssa.RunDefers:
		return true
	case *ssa.Call:
		return callWaits(&instr.Call, depth)
	}
	return false
}

// surelyWaits reports whether instr waits for what another goroutine does.
func surelyWaits(instr ssa.Instruction) bool {
	switch instr := instr.(type) {
	case *ssa.UnOp:
		return instr.Op == token.ARROW
	case *ssa.Select:
		return true
	case *ssa.Call:
		fn := instr.Call.StaticCallee()
		return fn != nil && knowledge.MayWait(fn.Name())
	}
	return false
}

func callWaits(call *ssa.CallCommon, depth int) bool {
	if _, ok := call.Value.(*ssa.Builtin); ok {
		return false
	}
	if call.IsInvoke() {
		return knowledge.MayWait(call.Method.Name())
	}
	fn := ir.Origin(call.StaticCallee())
	switch {
	case fn == nil || depth > knowledge.CallsToWait:
		return true
	case len(fn.Blocks) == 0 || knowledge.MayWait(fn.Name()):
		return knowledge.MayWait(fn.Name())
	}
	for _, b := range fn.Blocks {
		for _, instr := range b.Instrs {
			if _, ok := instr.(*ssa.RunDefers); !ok && waits(instr, depth+1) {
				return true
			}
		}
	}
	return false
}
