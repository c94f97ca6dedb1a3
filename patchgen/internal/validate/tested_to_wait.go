package validate

import (
	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/pass/callgraph"
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

// setBehindStart doubts that a variable need only be whole, where a function sets it once, behind the start of a
// goroutine: one that reads it first may be meant to find the value.
//
//	go t.loop()
//	t.origin = t.src.Origin()
func (j *judge) setBehindStart(writes []use) {
	first := writes[0]
	var start *ssa.Go // before all of them
	for instr := range ir.Instructions(first.fn) {
		if x, ok := instr.(*ssa.Go); ok && first.pkg.IR.Flow(first.fn).Leads(x, first.instr) {
			start = x
		}
	}
	isLate := func(w use) bool {
		store, ok := w.instr.(*ssa.Store)
		if !ok || start == nil || w.fn != first.fn || callgraph.InLoop(store.Block()) {
			return false
		}
		// A constant is a flag: something has happened.
		_, isConst := store.Val.(*ssa.Const)
		return !isConst && w.pkg.IR.Flow(w.fn).Leads(start, store)
	}
	for i, w := range writes {
		// Of several, one is made.
		if !isLate(w) || i > 0 && first.pkg.IR.Flow(first.fn).Leads(writes[i-1].instr, w.instr) {
			return
		}
	}
	j.doubt(place{first.pkg, first.instr}, finding.Heavy, "written first",
		"a goroutine that reads it first finds nothing there",
		"%s is set at %s, behind the start of a goroutine at %s, and nowhere else", j.now.claim.Variable,
		at(first.pkg, first.instr), at(first.pkg, start))
}
