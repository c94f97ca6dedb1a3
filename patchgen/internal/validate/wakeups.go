package validate

import (
	"go/token"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/pass/lockset"
	"github.com/interlock-go/interlock/patchgen/internal/session"
)

// stoppable demands that touched functions wait at fewer channels alone, in none more often than before, and that each
// operation which is gone from there is a case of a select.
func (j *judge) stoppable() {
	before, casesBefore := j.channelWaits(j.old)
	after, casesAfter := j.channelWaits(j.now)
	if total(after) >= total(before) {
		j.add("stoppable", "as many operations wait for their other side alone as before")
	}
	for _, k := range after.more(before) {
		j.add("stoppable", "%s %s", short(k.function), k.what)
	}
	for k, n := range before {
		if after[k]+casesAfter[k] < n+casesBefore[k] {
			j.add("stoppable", "%s %s less often than before", short(k.function), k.what)
		}
	}
}

// channelWaits counts the sends and receives of touched functions: those that stand alone, and the cases of selects.
func (j *judge) channelWaits(s *side) (alone, cases tally) {
	alone, cases = tally{}, tally{}
	j.eachTouched(s, func(p *session.Package, fn *ssa.Function, instr ssa.Instruction, _ *lockset.State) {
		sends := tallyKey{declared(p, fn), "sends"}
		receives := tallyKey{declared(p, fn), "receives"}
		switch instr := instr.(type) {
		case *ssa.Send:
			alone[sends]++
		case *ssa.UnOp:
			if instr.Op == token.ARROW {
				alone[receives]++
			}
		case *ssa.Select:
			for _, state := range instr.States {
				if state.Send != nil {
					cases[sends]++
				} else {
					cases[receives]++
				}
			}
		}
	})
	return alone, cases
}

// signsOff demands that there are as many Done as before, and that fewer of them are not deferred.
func (j *judge) signsOff() {
	if before, after := j.operations(j.old, finding.Done), j.operations(j.now, finding.Done); before != after {
		j.add("signs off", "there are %d calls of Done, and there were %d", after, before)
	}
	before, after := j.calls(j.old, "Done", "*sync.WaitGroup"), j.calls(j.now, "Done", "*sync.WaitGroup")
	if total(after) >= total(before) {
		j.add("signs off", "as many calls of Done as before are not reached by every way out")
	}
}

// wakesAll demands that touched functions signal no single waiter any more.
func (j *judge) wakesAll() {
	if left := j.calls(j.now, "Signal", "*sync.Cond"); total(left) > 0 {
		j.add("wakes all", "%d calls of Signal are left", total(left))
	}
}

// calls counts the calls of a method in touched functions, those that are deferred apart.
func (j *judge) calls(s *side, name, recv string) tally {
	found := tally{}
	j.eachTouched(s, func(p *session.Package, fn *ssa.Function, instr ssa.Instruction, _ *lockset.State) {
		call, ok := instr.(*ssa.Call)
		if !ok {
			return
		}
		callee := call.Call.StaticCallee()
		if callee != nil && callee.Name() == name && callee.Signature.Recv() != nil &&
			callee.Signature.Recv().Type().String() == recv {
			found[tallyKey{declared(p, fn), name}]++
		}
	})
	return found
}

// closedOnce demands that every close of the claim's channel runs in a sync.Once.
func (j *judge) closedOnce() {
	closes := 0
	for _, p := range j.now.packages() {
		for _, op := range p.Ops.All {
			v := j.now.claim.Variable
			if op.Mode != finding.CloseChan || op.Key.Name.Package != v.Package || op.Key.Name.Type != v.Type ||
				op.Key.Name.Field != v.Name {
				continue
			}
			closes++
			if !p.Calls.Once(op.Fn) {
				j.add("closed once", "%s is closed at %s outside of the sync.Once", v, at(p, op.Instr))
			}
		}
	}
	if closes == 0 {
		j.add("closed once", "no close of %s can be followed", j.now.claim.Variable)
	}
}
