package validate

import (
	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/pass/lockset"
	"github.com/interlock-go/interlock/patchgen/internal/session"
)

// testedToWait doubts a function that tests the variable, by itself or in callees, and waits for a sync.Cond without
// the claim's lock: the wake-up may come between the two.
//
//	for !q.stopped.Load() { q.cond.Wait() }
//	q.stopped.Store(true); q.cond.Broadcast()	// without q.cond.L
func (j *judge) testedToWait(p *session.Package, fn *ssa.Function) {
	p.Locks.Walk(fn, func(instr ssa.Instruction, st *lockset.State) {
		wait, ok := instr.(*ssa.Call)
		if ok && methodOf(wait, "*sync.Cond") == "Wait" && !j.now.mayHold(st) {
			j.doubt(place{p, wait}, finding.Heavy, "alone", "a wake-up between the two is lost, and it waits on",
				"%s tests %s and then waits for a sync.Cond at %s", short(declared(p, fn)), j.now.claim.Variable, at(p, wait))
		}
	})
}
