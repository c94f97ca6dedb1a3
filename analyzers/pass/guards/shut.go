package guards

import (
	"go/constant"
	"go/token"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/pass/accesses"
)

func byFunction(list []*accesses.Access) map[*ssa.Function][]*accesses.Access {
	byFn := map[*ssa.Function][]*accesses.Access{}
	for _, a := range list {
		byFn[a.Fn] = append(byFn[a.Fn], a)
	}
	return byFn
}

// shutOut reports whether b cannot come any more when a is made: the function of a has set a flag under a lock, and
// that of b asks for the flag under this lock, which it holds until b.
//
//	s.mu.Lock(); s.closed = true; s.mu.Unlock(); for c := range s.conns { … }
//	s.mu.Lock(); defer s.mu.Unlock(); if s.closed { return }; s.conns[c] = true
func (c *checker) shutOut(a, b *accesses.Access) bool {
	return slices.ContainsFunc(c.byFn[a.Fn], func(flag *accesses.Access) bool {
		set, ok := flag.Value.(*ssa.Const)
		return ok && flag.Mode == finding.Write && !flag.Map && flag.Path.Root == a.Path.Root && c.before(flag, a) &&
			slices.ContainsFunc(c.byFn[b.Fn], func(test *accesses.Access) bool {
				return test.Name == flag.Name && test.Mode == finding.Read && test.Path.Root == b.Path.Root &&
					c.before(test, b) && inOneSection(flag, test, b) && excludes(test, set, b)
			})
	})
}

// before reports whether every way to b comes to a first.
func (c *checker) before(a, b *accesses.Access) bool {
	return c.list.Prog.Flow(a.Fn).Precedes(a.Instr, b.Instr)
}

// inOneSection reports whether a lock of a class under which the flag is set is held from test to b.
func inOneSection(flag, test, b *accesses.Access) bool {
	for _, h := range flag.Locks.Held() {
		for _, mine := range test.Locks.Held() {
			if again, ok := b.Locks.Has(mine.Path); ok && !h.Read && h.Class == mine.Class && again.Since == mine.Since {
				return true
			}
		}
	}
	return false
}

// excludes reports whether a branch on the value that test has read leads to b only if the flag was not set to that.
func excludes(test *accesses.Access, set *ssa.Const, b *accesses.Access) bool {
	if test.Value == nil || test.Value.Referrers() == nil {
		return false
	}
	for _, ref := range *test.Value.Referrers() {
		branch, isSet := branchOn(ref, test.Value, set)
		if branch == nil {
			continue
		}
		other := branch.Block().Succs[0]
		if isSet { // the branch is taken where the flag is set
			other = branch.Block().Succs[1]
		}
		if len(other.Preds) == 1 && other.Dominates(b.Instr.Block()) {
			return true
		}
	}
	return false
}

// branchOn returns the branch that ref, a use of the value v of the flag, decides, and whether it is taken where the
// flag has the constant value; nil if it decides none.
func branchOn(ref ssa.Instruction, v ssa.Value, set *ssa.Const) (branch *ssa.If, isSet bool) {
	switch ref := ref.(type) {
	case *ssa.If:
		return ref, set.Value != nil && set.Value.Kind() == constant.Bool && constant.BoolVal(set.Value)
	case *ssa.UnOp:
		if ref.Op == token.NOT {
			for _, next := range *ref.Referrers() {
				if branch, isSet := branchOn(next, ref, set); branch != nil {
					return branch, !isSet
				}
			}
		}
	case *ssa.BinOp:
		other := ref.X
		if other == v {
			other = ref.Y
		}
		with, ok := other.(*ssa.Const)
		if !ok || ref.Op != token.EQL && ref.Op != token.NEQ || !sameConst(with, set) {
			return nil, false
		}
		for _, next := range *ref.Referrers() {
			if branch, ok := next.(*ssa.If); ok {
				return branch, ref.Op == token.EQL
			}
		}
	}
	return nil, false
}

func sameConst(a, b *ssa.Const) bool {
	if a.Value == nil || b.Value == nil {
		return a.Value == nil && b.Value == nil
	}
	return constant.Compare(a.Value, token.EQL, b.Value)
}
