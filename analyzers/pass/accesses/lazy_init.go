package accesses

import (
	"go/token"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
)

// ifNil reports whether a, a write, stands where its variable was found nil.
func ifNil(a *Access) bool {
	for b := a.Instr.Block(); b.Idom() != nil; b = b.Idom() {
		branch, ok := b.Idom().Instrs[len(b.Idom().Instrs)-1].(*ssa.If)
		if !ok || len(b.Preds) != 1 {
			continue
		}
		load, way := comparedToNil(branch.Cond)
		if load != nil && b.Idom().Succs[way] == b && accesspath.Of(load.X) == a.Path {
			return true
		}
	}
	return false
}

// comparedToNil returns the load of which the condition asks whether it is nil,
// and the successor that is taken if so.
func comparedToNil(cond ssa.Value) (load *ssa.UnOp, way int) {
	cmp, ok := cond.(*ssa.BinOp)
	if !ok || cmp.Op != token.EQL && cmp.Op != token.NEQ {
		return nil, 0
	}
	if cmp.Op == token.NEQ {
		way = 1
	}
	if c, ok := cmp.Y.(*ssa.Const); !ok || !c.IsNil() {
		return nil, 0
	}
	load, ok = cmp.X.(*ssa.UnOp)
	if !ok || load.Op != token.MUL {
		return nil, 0
	}
	return load, way
}
