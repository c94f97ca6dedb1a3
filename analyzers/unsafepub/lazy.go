package unsafepub

import (
	"fmt"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/pass/accesses"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
)

// lazyInit finds `if x.f == nil { x.f = … }` without a lock, in code that any caller may run, on a type that
// has means of synchronisation: so several goroutines are meant to use it. An object of its own is reported as
// IL2002.
func (c *checker) lazyInit(v *accesses.Variable) *race {
	if c.lockedSomewhere(v) {
		return nil // guardedby judges it
	}
	for _, a := range plainWrites(v) {
		if a.Update || isError(a.Obj.Type()) || !c.list.AnyCaller(a) || !c.list.MeantToBeShared(a.Fn) ||
			c.judged[c.list.Side(a).Position] {
			continue
		}
		if test := c.zeroTest(v, a); test != nil {
			return &race{a, test, "initialised lazily without a lock",
				fmt.Sprintf("Two calls of %s may both find it unset and both set it, and one may see half of what the other "+
					"made. A sync.Once orders them.",
					c.list.Prog.FuncName(a.Fn))}
		}
	}
	return nil
}

func (c *checker) lockedSomewhere(v *accesses.Variable) bool {
	for _, a := range v.Accesses {
		if len(a.Locks.Held()) > 0 {
			return true
		}
	}
	return false
}

// zeroTest returns the read by which a is made only if the field is unset.
func (c *checker) zeroTest(v *accesses.Variable, a *accesses.Access) *accesses.Access {
	for _, b := range v.Accesses {
		if b.Fn != a.Fn || b.Writes() || b.Path != a.Path || b.Map || b.Value == nil {
			continue
		}
		for _, ref := range *b.Value.Referrers() {
			if way := ifZero(ref); way != nil && len(way.Preds) == 1 && way.Dominates(a.Instr.Block()) &&
				!c.list.Leads(a.Instr, b.Instr) {
				return b
			}
		}
	}
	return nil
}

// isError reports whether t is error: to note the first error is no initialisation.
func isError(t types.Type) bool { return types.Identical(t, types.Universe.Lookup("error").Type()) }

// ifZero returns the block that control takes if the comparison finds the zero
// value: nil, "", 0.
func ifZero(instr ssa.Instruction) *ssa.BasicBlock {
	cmp, ok := instr.(*ssa.BinOp)
	if !ok || cmp.Op != token.EQL && cmp.Op != token.NEQ || !ir.IsZero(cmp.X) && !ir.IsZero(cmp.Y) {
		return nil
	}
	for _, ref := range *cmp.Referrers() {
		if branch, ok := ref.(*ssa.If); ok {
			if cmp.Op == token.EQL {
				return branch.Block().Succs[0]
			}
			return branch.Block().Succs[1]
		}
	}
	return nil
}
