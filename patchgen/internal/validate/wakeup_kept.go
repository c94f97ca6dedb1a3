package validate

import (
	"go/types"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/pass/callgraph"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
	"github.com/interlock-go/interlock/patchgen/internal/session"
)

// keepsWakeup demands that the claim's channel keeps one wake-up for who comes later: it is made with room for one, no
// send on it waits, and each receive is in a loop, as the wake-up that it takes may be an old one.
func (j *judge) keepsWakeup() {
	s, v := j.now, j.now.claim.Variable
	// Where it is made, sent on and received from.
	made, receives := 0, []place{}
	j.eachOutsideTests(func(p *session.Package, instr ssa.Instruction) {
		switch instr := instr.(type) {
		case *ssa.Store:
			if nameOfAddr(instr.Addr) != s.claimName() {
				return
			}
			if made++; room(instr.Val) != 1 {
				j.add("keeps wake-up", "%s has not the room for one at %s", v, at(p, instr))
			}
		case *ssa.Send:
			if nameOfAddr(instr.Chan) == s.claimName() {
				j.add("keeps wake-up", "the send at %s waits where a wake-up is kept already", at(p, instr))
			}
		case *ssa.UnOp, *ssa.Select:
			if s.isReceived(instr) {
				receives = append(receives, place{p, instr})
			}
		}
	})
	// An old wake-up has to lead to a test.
	if made == 0 || len(receives) == 0 {
		j.add("keeps wake-up", "%s is made or received from under another name", v)
	}
	for _, r := range receives {
		if !callgraph.InLoop(r.instr.Block()) {
			j.add("keeps wake-up", "an old wake-up ends the wait at %s, where nothing is tested again", at(r.pkg, r.instr))
		}
	}
	j.wakesOne(receives)
}

// eachOutsideTests visits the instructions of the patched module, tests apart.
func (j *judge) eachOutsideTests(visit func(*session.Package, ssa.Instruction)) {
	for _, p := range j.now.Packages {
		for _, fn := range p.IR.Funcs {
			if p.IR.InTest(fn) {
				continue
			}
			for instr := range ir.Instructions(fn) {
				visit(p, instr)
			}
		}
	}
}

// isReceived reports whether an instruction receives from the claim's channel.
func (s *side) isReceived(instr ssa.Instruction) bool {
	switch instr := instr.(type) {
	case *ssa.UnOp:
		return nameOfAddr(instr.X) == s.claimName() && isChannelType(instr.X.Type())
	case *ssa.Select:
		for _, state := range instr.States {
			if state.Dir == types.RecvOnly && nameOfAddr(state.Chan) == s.claimName() {
				return true
			}
		}
	}
	return false
}

func isChannelType(t types.Type) bool {
	_, ok := t.Underlying().(*types.Chan)
	return ok
}

// wakesOne judges that one wake-up is kept and no more: where several goroutines wait, the second that is sent
// meanwhile is lost as before.
func (j *judge) wakesOne(receives []place) {
	for _, r := range receives {
		if len(receives) > 1 || !j.isOneGoroutine(r.pkg, r.instr.Parent()) {
			j.doubt(r, finding.Heavy, "keeps wake-up", "if who is woken wakes nobody else, the second one waits on",
				"two goroutines may come to wait at %s, and one wake-up is kept", at(r.pkg, r.instr))
			return
		}
	}
}

// isOneGoroutine reports whether a function is run by one go statement alone, which no loop repeats.
func (j *judge) isOneGoroutine(p *session.Package, fn *ssa.Function) bool {
	starts := p.Ops.Started(fn)
	return len(starts) == 1 && len(p.Calls.Sites(fn)) == 1 && !callgraph.InLoop(starts[0].Instr.Block())
}
