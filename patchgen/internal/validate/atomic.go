package validate

import (
	"fmt"
	"go/constant"
	"go/token"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
	"github.com/interlock-go/interlock/analyzers/pass/lockset"
	"github.com/interlock-go/interlock/analyzers/pass/order"
	"github.com/interlock-go/interlock/patchgen/internal/facts"
	"github.com/interlock-go/interlock/patchgen/internal/session"
)

// atomicOnly demands that every access of the variable is an atomic operation,
// and that none is a step of a load and a store.
func (j *judge) atomicOnly() {
	s := j.now
	for _, u := range s.uses() {
		if u.unknown != "" {
			j.doubt(place{u.pkg, u.instr}, finding.Heavy, "atomic", stillRace,
				"%s is handed to %s at %s, and may be accessed there, not by sync/atomic", s.claim.Variable, u.unknown,
				at(u.pkg, u.instr))
			continue
		}
		j.add("atomic", "%s is accessed at %s, and not by sync/atomic", s.claim.Variable, at(u.pkg, u.instr))
	}
	torn, flags := s.twoSteps(), j.old.flagSteps()
	for _, k := range torn.more(j.old.twoSteps()) {
		if torn[k] <= flags[k] {
			j.doubt(place{}, finding.Heavy, "one step", "two goroutines may both come through, as they may without this patch",
				"%s: %s", short(k.function), k.what)
			continue
		}
		j.add("one step", "%s: %s", short(k.function), k.what)
	}
	j.atomicSteps()
}

// atomicSteps demands that no two atomic operations on the variable are meant to be one.
func (j *judge) atomicSteps() {
	s := j.now
	for _, k := range s.apartAtomics(j).more(j.old.apartAtomics(j)) {
		if isSplitTest(k.what) {
			j.doubt(place{}, finding.Heavy, "one step", comesThrough, "%s: %s, in two atomic steps", short(k.function), k.what)
			continue
		}
		j.add("one step", "%s: %s, in two atomic steps", short(k.function), k.what)
	}
	for _, k := range s.storesBeside(j).more(j.old.storesBeside(j)) {
		j.doubt(place{}, finding.Heavy, "one step", "a value that others add or set in between is lost, or counted in",
			"%s: %s, in two atomic steps", short(k.function), k.what)
	}
}

// storesBeside counts the stores to the variable that a function makes beside an addition to it: two atomic steps.
func (s *side) storesBeside(j *judge) tally {
	found := tally{}
	for _, p := range s.packages() {
		t := tracer{s.isVariable(p)}
		for _, fn := range p.IR.Funcs {
			if p.IR.InTest(fn) || isTestOf(p, fn) || !s.concerns(j, p, fn) {
				continue
			}
			parts := s.atomicParts(p, fn, t, 0)
			for _, a := range parts {
				for _, b := range parts {
					if what := s.storeBeside(p, a, b); what != "" {
						found[tallyKey{declared(p, fn), what}]++
					}
				}
			}
		}
	}
	return found
}

// storeBeside returns how a store and an addition depend on each other; "" if they do not.
//
//	c.n.Store(base); c.n.Add(extra)        if c.n.Add(1) == max { c.n.Store(0) }
func (s *side) storeBeside(p *session.Package, st, add part) string {
	isStore := st.write && !st.update && add.update
	if !isStore || st.base != add.base || st.region == add.region {
		return ""
	}
	if v, ok := add.instr.(ssa.Value); ok && facts.Decided(v).Controls(st.instr.Block()) {
		return fmt.Sprintf("sets %s where it has added to it", s.claim.Variable)
	}
	if p.IR.Flow(st.instr.Parent()).Leads(st.instr, add.instr) && !s.waitsBetween(p, st.instr, add.instr) {
		return fmt.Sprintf("sets %s and then adds to it", s.claim.Variable)
	}
	return ""
}

// twoSteps counts atomic stores that an atomic load before them decides about,
// and sends on channels that somebody closes.
func (s *side) twoSteps() tally {
	found, closed := tally{}, closedChannels(s.packages())
	for _, p := range s.packages() {
		t := tracer{s.isVariable(p)}
		for _, fn := range p.IR.Funcs {
			// A CompareAndSwap tests and stores in one step, so it is neither.
			var loads, stores []*ssa.Call
			for instr := range ir.Instructions(fn) {
				if call, ok := instr.(*ssa.Call); ok && isAtomicOn(call, t) {
					switch name := call.Call.StaticCallee().Name(); {
					case strings.HasPrefix(name, "Load"):
						loads = append(loads, call)
					case !strings.HasPrefix(name, "CompareAndSwap"):
						stores = append(stores, call)
					}
				}
			}
			for _, load := range loads {
				d := facts.Decided(load)
				for _, st := range stores {
					switch {
					case d.Feeds(st):
						what := fmt.Sprintf("a load of %s decides about a store: two atomic steps", s.claim.Variable)
						found[tallyKey{declared(p, fn), what}]++
					case d.Controls(st.Block()):
						found[s.flagStep(p, fn, st.Call.Args[len(st.Call.Args)-1])]++
					}
				}
				for _, x := range s.sends(p, fn, closed) {
					if d.Controls(x.instr.Block()) {
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

// flagStep names a test of the variable that decides about a store to it: of true or false, or of another value.
func (s *side) flagStep(p *session.Package, fn *ssa.Function, stored ssa.Value) tallyKey {
	what := "a store"
	if isFlag(stored) {
		what = "a store of true or false"
	}
	what = fmt.Sprintf("a load of %s decides about %s: two atomic steps", s.claim.Variable, what)
	return tallyKey{declared(p, fn), what}
}

// isFlag reports whether a value is the constant true or false.
func isFlag(v ssa.Value) bool {
	c, ok := v.(*ssa.Const)
	return ok && c.Value != nil && c.Value.Kind() == constant.Bool
}

// flagSteps counts, in a source where the variable is a plain flag, the tests of it that decide about a store to it, as
// twoSteps does where it is atomic.
func (s *side) flagSteps() tally {
	found := tally{}
	for _, p := range s.packages() {
		t := tracer{s.isVariable(p)}
		for _, fn := range p.IR.Funcs {
			// Its plain loads and stores.
			var loads []*ssa.UnOp
			var stores []*ssa.Store
			for instr := range ir.Instructions(fn) {
				switch instr := instr.(type) {
				case *ssa.UnOp:
					if instr.Op == token.MUL && len(t.origins(instr.X)) > 0 {
						loads = append(loads, instr)
					}
				case *ssa.Store:
					if isFlag(instr.Val) && len(t.origins(instr.Addr)) > 0 {
						stores = append(stores, instr)
					}
				}
			}
			for _, load := range loads {
				d := facts.Decided(load)
				for _, st := range stores {
					if d.Controls(st.Block()) {
						found[s.flagStep(p, fn, st.Val)]++
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
			if !p.IR.InTest(fn) && !isTestOf(p, fn) && s.concerns(j, p, fn) {
				s.apart(p, fn, s.atomicParts(p, fn, t, 0), found)
			}
		}
	}
	return found
}

// atomicParts lists the atomic operations of fn on the variable and those of its callees, as far down as
// maxCallees. A region of a lock is one.
func (s *side) atomicParts(p *session.Package, fn *ssa.Function, t tracer, depth int) (parts []part) {
	key := atomicsIn{fn, depth}
	if known, ok := s.atomics[key]; ok {
		return known
	}
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
		case depth < maxCallees:
			inner := func(fn *ssa.Function) []part { return s.atomicParts(s.Of(fn), fn, t, depth+1) }
			parts = append(parts, s.inCaller(call, inner)...)
		}
	})
	s.atomics[key] = parts
	return parts
}

// atomicsIn is the key of a list of atomicParts.
type atomicsIn struct {
	fn    *ssa.Function
	depth int
}

// maxCallees bounds how far the steps of a function are followed into its callees.
const maxCallees = 2

// isLoad reports whether an operation of sync/atomic only reads.
func isLoad(call *ssa.Call) bool { return strings.HasPrefix(call.Call.StaticCallee().Name(), "Load") }

// isAtomicOn reports whether call is an operation of sync/atomic on the variable.
func isAtomicOn(call *ssa.Call, t tracer) bool {
	atomic := order.On(call, order.Atomics)
	return atomic != nil && len(t.origins(atomic)) > 0
}
