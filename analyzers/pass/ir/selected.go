package ir

import (
	"go/token"

	"golang.org/x/tools/go/ssa"
)

// Selected returns the case of a select that has been carried out where control reaches b and b is that case's
// body; nil if b begins no case. SSA tests the number of the case in the select's block:
//
//	t0 = select blocking [<-c, d<-x]
//	t1 = extract t0 #0
//	t2 = t1 == 0:int
//	if t2 goto body of <-c else …
func Selected(b *ssa.BasicBlock) *ssa.SelectState {
	// A body that a second block leads to says nothing of the case.
	if len(b.Preds) != 1 {
		return nil
	}
	return SelectedBetween(b.Preds[0], b)
}

// SelectedBetween is [Selected] for control that comes to b from block d: cases without statements have no block.
func SelectedBetween(d, b *ssa.BasicBlock) *ssa.SelectState {
	branch, ok := d.Instrs[len(d.Instrs)-1].(*ssa.If)
	if !ok || d.Succs[0] != b || d.Succs[1] == b {
		return nil
	}
	cmp, ok := branch.Cond.(*ssa.BinOp)
	if !ok || cmp.Op != token.EQL {
		return nil
	}

	// The first result of a select is compared, and the constant is the number of a case, not of default.
	which, ok := cmp.X.(*ssa.Extract)
	number, isConst := cmp.Y.(*ssa.Const)
	if !ok || !isConst || which.Index != 0 {
		return nil
	}
	sel, ok := which.Tuple.(*ssa.Select)
	if !ok {
		return nil
	}
	if i := int(number.Int64()); i >= 0 && i < len(sel.States) {
		return sel.States[i]
	}
	return nil
}

// StoresItself reports whether a store leaves its variable as it is: a return statement that names a
// named result, for which the compiler makes no store.
//
//	func open() (c *conn, err error) { …; return c, nil }
func StoresItself(st *ssa.Store) bool {
	load, ok := st.Val.(*ssa.UnOp)
	return ok && load.Op == token.MUL && load.X == st.Addr
}

// PartsRead returns the fields that code compiled of a load reads, where package ssa loads a whole struct to follow a
// pointer embedded in it; nil where the whole is read.
//
//	type Middle struct { *base; log []string }
//	t.Middle.Lock() // reads t.Middle.base
func PartsRead(load *ssa.UnOp) (parts []*ssa.Field) {
	for _, ref := range *load.Referrers() {
		field, ok := ref.(*ssa.Field)
		if !ok {
			return nil
		}
		parts = append(parts, field)
	}
	return parts
}
