package validate

import (
	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
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

// setBehindStart doubts that a variable need only be whole, where its only write comes behind the start of a goroutine:
// one that reads it may be meant to find the value.
//
//	go t.loop()
//	t.origin = t.src.Origin()
func (j *judge) setBehindStart(writes []use) {
	only := writes[0]
	store, ok := only.instr.(*ssa.Store)
	if !ok || len(writes) > 1 {
		return
	}
	if _, isConst := store.Val.(*ssa.Const); isConst {
		return // a flag: something has happened
	}
	for instr := range ir.Instructions(only.fn) {
		if start, ok := instr.(*ssa.Go); ok && only.pkg.IR.Flow(only.fn).Leads(start, store) {
			j.doubt(place{only.pkg, store}, finding.Heavy, "written first",
				"a goroutine that reads it first finds nothing there",
				"%s is set at %s, behind the start of a goroutine at %s, and nowhere else", j.now.claim.Variable,
				at(only.pkg, store), at(only.pkg, start))
			return
		}
	}
}
