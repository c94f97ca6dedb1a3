package accesses

import (
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/internal/knowledge"
	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
)

// IfNil reports whether a, a write, stands where its variable was found nil.
func (a *Access) IfNil() bool { return accesspath.FoundNil(a.Instr, a.Path) }

// ComparedToNil reports whether a loads the variable to ask whether it is nil.
func (a *Access) ComparedToNil() bool {
	load, ok := a.Instr.(*ssa.UnOp)
	return ok && slices.ContainsFunc(*load.Referrers(), func(ref ssa.Instruction) bool {
		cmp, ok := ref.(*ssa.BinOp)
		if !ok {
			return false
		}
		asked, _ := accesspath.ComparedToNil(cmp)
		return asked == load
	})
}

// Renews reports whether a is one of several stores of constants that make an object as new: the function that does
// so has it alone, as a rule, for the next user or at its end.
//
//	op.fd, op.onRead, op.detached = 0, nil, 0
func (a *Access) Renews() bool {
	fa, ok := a.Addr.(*ssa.FieldAddr)
	if !ok || !a.Writes() || a.Atomic() || a.Map || !isConst(a.Value) {
		return false
	}
	object := accesspath.Of(fa.X)
	stored := map[*types.Var]bool{}
	for _, instr := range a.Instr.Block().Instrs {
		st, ok := instr.(*ssa.Store)
		if !ok || !isConst(st.Val) {
			continue
		}
		if other, ok := st.Addr.(*ssa.FieldAddr); ok && (other.X == fa.X || accesspath.Of(other.X) == object) {
			stored[accesspath.FieldOf(other)] = true
		}
	}
	p, ok := fa.X.Type().Underlying().(*types.Pointer)
	if !ok {
		return false
	}
	s, ok := p.Elem().Underlying().(*types.Struct)
	return ok && len(stored) >= knowledge.RenewedFields &&
		float64(len(stored)) >= knowledge.RenewedShare*float64(s.NumFields())
}

// isConst reports whether v is a constant, or a struct without anything set.
func isConst(v ssa.Value) bool {
	_, ok := v.(*ssa.Const)
	return ok
}
