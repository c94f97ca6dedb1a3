package validate

import (
	"fmt"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
)

// calledBack doubts a call under a lock that leads to a library, where the library may come back to a function that
// takes a lock of the class.
//
//	j.mu.Lock()
//	if errors.Is(j.err, target) {	// calls j.err.Is, and there is a type of which that locks j.mu
func (j *judge) calledBack(made madeBy, e edgeSite) {
	w := j.now.comeback(made.call, e)
	text := fmt.Sprintf("%s, called under %s at %s, ", j.now.CallText(made.call), short(e.from), made)
	if w.library != made.call && w.library != nil {
		text += fmt.Sprintf("leads to %s at %s, which ", j.now.CallText(w.library), j.now.at(w.library))
	}
	text += "may call " + e.by
	if w.takes != nil {
		text += fmt.Sprintf(", which takes that lock at %s", j.now.at(w.takes))
	}
	j.doubt(place{made.pkg, made.call}, finding.Heavy, "order", "if so, this deadlocks", "%s", text)
}

// backName names a function that a library calls back.
func (s *state) backName(fn *ssa.Function) string {
	name := short(declared(s.Of(fn), fn))
	if fn.Parent() != nil {
		return "a function literal of " + name
	}
	return name
}

// at returns file:line of a call.
func (s *state) at(call ssa.CallInstruction) string { return at(s.Of(call.Parent()), call) }

// comeback is how a call comes to take a lock through a library: the call of that, and the call that takes the lock in
// the end. Both are nil where a search finds none.
type comeback struct{ library, takes ssa.CallInstruction }

// comeback looks for the shortest way.
func (s *state) comeback(from ssa.CallInstruction, e edgeSite) (w comeback) {
	s.search(from, func(call ssa.CallInstruction) bool {
		for _, t := range s.Calls.CalledBack(call) {
			if s.backName(t) == e.by && s.sumTakes()[t].has(e.to) {
				w = comeback{call, s.acquires(t, e.to)}
			}
		}
		return w.library != nil
	})
	return w
}

// acquires returns the nearest call that takes a lock of a class, in a function or what it calls.
func (s *state) acquires(fn *ssa.Function, class string) (takes ssa.CallInstruction) {
	for instr := range ir.Instructions(fn) {
		if call, ok := instr.(ssa.CallInstruction); ok && takes == nil {
			s.search(call, func(call ssa.CallInstruction) bool {
				if acquired(s.Of(call.Parent()), call) == class {
					takes = call
				}
				return takes != nil
			})
		}
	}
	return takes
}

// search visits a call and those that it leads to, the nearest first, until visit returns true.
func (s *state) search(from ssa.CallInstruction, visit func(ssa.CallInstruction) bool) {
	seen := map[*ssa.Function]bool{}
	for work := []ssa.CallInstruction{from}; len(work) > 0; work = work[1:] {
		if _, isGo := work[0].(*ssa.Go); isGo {
			continue
		}
		if visit(work[0]) {
			return
		}
		for _, fn := range slices.Concat(s.Calls.Runs(work[0]), s.Calls.CalledBack(work[0])) {
			if seen[fn] {
				continue
			}
			seen[fn] = true
			for instr := range ir.Instructions(fn) {
				if call, ok := instr.(ssa.CallInstruction); ok {
					work = append(work, call)
				}
			}
		}
	}
}
