package validate

import (
	"fmt"
	"go/types"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// atomicOnly demands that every access of the variable is an atomic operation,
// and that none is a step of a load and a store.
func (j *judge) atomicOnly() {
	s := j.now
	for _, u := range s.uses() {
		j.add("atomic", "%s is accessed at %s, and not by sync/atomic", s.claim.Variable, at(u.pkg, u.instr))
	}
	for _, k := range s.twoSteps().more(j.old.twoSteps()) {
		j.add("one step", "%s: %s", short(k.function), k.what)
	}
}

// twoSteps counts atomic stores that an atomic load before them decides about,
// and sends on channels that somebody closes.
func (s *side) twoSteps() tally {
	found, closed := tally{}, s.closedChannels()
	for _, p := range s.packages() {
		t := tracer{s.isVariable(p)}
		for _, fn := range p.IR.Funcs {
			// A CompareAndSwap tests and stores in one step, so it is neither.
			var loads, stores []*ssa.Call
			for _, b := range fn.Blocks {
				for _, instr := range b.Instrs {
					if call, ok := instr.(*ssa.Call); ok && isAtomicOn(call, t) {
						switch name := call.Call.StaticCallee().Name(); {
						case strings.HasPrefix(name, "Load"):
							loads = append(loads, call)
						case !strings.HasPrefix(name, "CompareAndSwap"):
							stores = append(stores, call)
						}
					}
				}
			}
			for _, load := range loads {
				d := decided(load)
				for _, st := range stores {
					if d.feeds(st) || d.controls(st.Block()) {
						what := fmt.Sprintf("a load of %s decides about a store: two atomic steps", s.claim.Variable)
						found[tallyKey{declared(p, fn), what}]++
					}
				}
				for _, x := range s.sends(p, fn, closed) {
					if d.controls(x.instr.Block()) {
						what := fmt.Sprintf("a load of %s decides about a send, and the channel is closed elsewhere: two atomic steps",
							s.claim.Variable)
						found[tallyKey{declared(p, fn), what}]++
					}
				}
			}
		}
	}
	return found
}

// isAtomicOn reports whether call is an operation of sync/atomic on the variable.
func isAtomicOn(call *ssa.Call, t tracer) bool {
	fn := call.Call.StaticCallee()
	if fn == nil || len(call.Call.Args) == 0 {
		return false
	}
	obj, ok := fn.Object().(*types.Func)
	return ok && obj.Pkg() != nil && obj.Pkg().Path() == "sync/atomic" && len(t.origins(call.Call.Args[0])) > 0
}
