package validate

import (
	"go/token"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
	"github.com/interlock-go/interlock/analyzers/pass/ownership"
	"github.com/interlock-go/interlock/patchgen/internal/session"
)

// nilTested demands that fewer operations wait for the claim's channel where it may be nil, none of the touched
// functions that correct one, and that the channel is not set once others can reach its object: a test comes too early
// then.
func (j *judge) nilTested() {
	before, after := j.untested(j.old), j.untested(j.now)
	if total(after) >= total(before) {
		j.add("nil tested", "as many operations as before wait for %s where it may be nil", j.now.claim.Variable)
	}
	for _, k := range append(after.more(before), after.left(before)...) {
		j.add("nil tested", "%s %s, which may be nil", short(k.function), k.what)
	}
	s := j.now
	j.eachOutsideTests(func(p *session.Package, instr ssa.Instruction) {
		store, ok := instr.(*ssa.Store)
		if ok && nameOfAddr(store.Addr) == s.claimName() && p.Owners.Of(store.Addr, instr) != ownership.Fresh {
			j.doubt(place{p, instr}, finding.Heavy, "nil tested", "the wait is left out where the test comes before that",
				"%s is set at %s, when another goroutine may ask for it", s.claim.Variable, at(p, instr))
		}
	})
}

// untested counts the operations on the claim's channel, cases of a select apart, that no test for nil of the same
// channel stands around.
func (j *judge) untested(s *side) tally {
	found := tally{}
	for _, p := range s.Packages {
		for _, fn := range p.IR.Funcs {
			if p.IR.InTest(fn) {
				continue
			}
			for instr := range ir.Instructions(fn) {
				ch, what := waitedChannel(instr)
				if ch != nil && nameOfAddr(ch) == s.claimName() && !isNilTested(ch, instr.Block()) {
					found[tallyKey{declared(p, fn), what + " " + s.claim.Variable.String()}]++
				}
			}
		}
	}
	return found
}

// waitedChannel returns the channel on which an instruction sends, or from which it receives; nil for others.
func waitedChannel(instr ssa.Instruction) (ch ssa.Value, what string) {
	switch instr := instr.(type) {
	case *ssa.Send:
		return instr.Chan, "sends on"
	case *ssa.UnOp:
		if instr.Op == token.ARROW {
			return instr.X, "receives from"
		}
	}
	return nil, ""
}

// isNilTested reports whether a block is reached only where a test has found the channel not to be nil.
//
//	if c.done != nil { <-c.done }		if c.done == nil { return }; <-c.done
func isNilTested(ch ssa.Value, in *ssa.BasicBlock) bool {
	for b := in; b != nil; b = b.Idom() {
		from := b.Idom()
		if from == nil || len(b.Preds) != 1 || b.Preds[0] != from {
			continue
		}
		branch, ok := from.Instrs[len(from.Instrs)-1].(*ssa.If)
		if !ok {
			continue
		}
		test, ok := branch.Cond.(*ssa.BinOp)
		if !ok || accesspath.Of(test.X) != accesspath.Of(ch) || !isNilConst(test.Y) {
			continue
		}
		if test.Op == token.NEQ && from.Succs[0] == b || test.Op == token.EQL && from.Succs[1] == b {
			return true
		}
	}
	return false
}

func isNilConst(v ssa.Value) bool {
	c, ok := v.(*ssa.Const)
	return ok && c.IsNil()
}
