package validate

import (
	"go/types"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/pass/lockset"
	"github.com/interlock-go/interlock/patchgen/internal/session"
)

// signalClosed demands of a channel that is closed where a signal was sent on it what closedOnce does, as often as it
// was sent, and that nothing is sent on it any more.
func (j *judge) signalClosed() {
	j.closedOnce()
	for _, p := range j.now.Packages {
		each(p, func(fn *ssa.Function, instr ssa.Instruction, _ *lockset.State) {
			if !p.IR.InTest(fn) && j.now.isSentOn(instr) {
				j.add("closed once", "%s is still sent on at %s", j.now.claim.Variable, at(p, instr))
			}
		})
	}
}

// signal counts a send on the channel of a claim that it is closed instead.
func (t tally) signal(s *side, p *session.Package, fn *ssa.Function, instr ssa.Instruction) {
	if s.claim.Kind == SignalClosed && s.isSentOn(instr) {
		t[tallyKey{declared(p, fn), "close"}]++
	}
}

// isSentOn reports whether an instruction sends on the claim's channel.
func (s *side) isSentOn(instr ssa.Instruction) bool {
	switch instr := instr.(type) {
	case *ssa.Send:
		return nameOfAddr(instr.Chan) == s.claimName()
	case *ssa.Select:
		for _, state := range instr.States {
			if state.Dir == types.SendOnly && nameOfAddr(state.Chan) == s.claimName() {
				return true
			}
		}
	}
	return false
}
