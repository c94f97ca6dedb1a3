package accesspath

import (
	"go/token"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/pass/ir"
)

// FoundNil reports whether control comes to instr only where the variable of the path was found nil, or zero.
//
//	if t.m == nil { t.m = map[string]int{} }
func FoundNil(instr ssa.Instruction, path Path) bool {
	for b := instr.Block(); b.Idom() != nil; b = b.Idom() {
		branch, ok := b.Idom().Instrs[len(b.Idom().Instrs)-1].(*ssa.If)
		if !ok || len(b.Preds) != 1 {
			continue
		}
		load, way := ComparedToNil(branch.Cond)
		if load != nil && b.Idom().Succs[way] == b && Of(load.X) == path {
			return true
		}
	}
	return false
}

// ComparedToNil returns the load of which the condition asks whether it is nil, or zero,
// and the successor of the branch that is taken if so; nil for other conditions.
func ComparedToNil(cond ssa.Value) (load *ssa.UnOp, way int) {
	cmp, ok := cond.(*ssa.BinOp)
	if !ok || cmp.Op != token.EQL && cmp.Op != token.NEQ {
		return nil, 0
	}
	if cmp.Op == token.NEQ {
		way = 1
	}
	if !ir.IsZero(cmp.Y) || ir.IsBool(cmp.Y.Type()) { // flags have two values, and most are reset
		return nil, 0
	}
	load, ok = cmp.X.(*ssa.UnOp)
	if !ok || load.Op != token.MUL {
		return nil, 0
	}
	return load, way
}
