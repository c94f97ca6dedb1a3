package validate

import (
	"fmt"
	"go/types"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/pass/lockset"
	"github.com/interlock-go/interlock/patchgen/internal/session"
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
	for _, k := range s.apartAtomics(j).more(j.old.apartAtomics(j)) {
		j.add("one step", "%s: %s, in two atomic steps", short(k.function), k.what)
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

// apartAtomics counts updates of the variable and reads of it beside them in one function, by themselves or by what it
// calls: two atomic steps, where the read is meant to see the update and no other.
func (s *side) apartAtomics(j *judge) tally {
	found := tally{}
	for _, p := range s.packages() {
		t := tracer{s.isVariable(p)}
		for _, fn := range p.IR.Funcs {
			if !p.IR.InTest(fn) && !isTestOf(p, fn) && j.concerns(p, fn) {
				s.apart(p, fn, s.atomicParts(p, fn, t, 0), found)
			}
		}
	}
	return found
}

// atomicParts lists the atomic operations of fn on the variable and, at depth 0, those of what it calls. What a lock
// holds together is one region.
func (s *side) atomicParts(p *session.Package, fn *ssa.Function, t tracer, depth int) (parts []part) {
	p.Locks.Walk(fn, func(instr ssa.Instruction, st *lockset.State) {
		call, ok := instr.(*ssa.Call)
		switch {
		case !ok:
		case isAtomicOn(call, t):
			name := call.Call.StaticCallee().Name()
			if strings.HasPrefix(name, "CompareAndSwap") || strings.HasPrefix(name, "Swap") {
				return // a test and a store in one step
			}
			base := pathOf(baseOf(t.origins(call.Call.Args[0])[0].root))
			x := part{instr: call, name: s.claim.Variable.String(), own: true, base: base, region: call, tests: true}
			if held := st.Held(); len(held) > 0 && held[0].Since != nil {
				x.region = held[0].Since
			}
			if x.write = !strings.HasPrefix(name, "Load"); !x.write {
				x.value = call
			}
			x.update = x.write && !strings.HasPrefix(name, "Store")
			parts = append(parts, x)
		case depth == 0:
			parts = append(parts, s.inCaller(call, func(b *body) []part { return s.atomicParts(b.pkg, b.fn, t, 1) })...)
		}
	})
	return parts
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
