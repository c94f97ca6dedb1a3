package validate

import (
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
	"github.com/interlock-go/interlock/analyzers/pass/lockset"
	"github.com/interlock-go/interlock/analyzers/pass/order"
	"github.com/interlock-go/interlock/analyzers/pass/ownership"
	"github.com/interlock-go/interlock/patchgen/internal/facts"
	"github.com/interlock-go/interlock/patchgen/internal/session"
)

// standsAlone doubts an atomic variable that may have to agree with something else. Atomic steps make one variable
// right, and order nothing beside it that the author had not ordered.
//
//	h.push(h.seq.Add(1), text)	// others may push a later number first
//	h.ok.Store(up); h.since.Store(now)	// a reader may meet one of the two
func (j *judge) standsAlone() {
	s := j.now
	for _, p := range s.Packages {
		t := tracer{s.isVariable(p)}
		for _, fn := range p.IR.Funcs {
			if p.IR.InTest(fn) {
				continue
			}
			for instr := range ir.Instructions(fn) {
				if call, ok := instr.(*ssa.Call); ok && isAtomicOn(call, t) && !isNew(p, call) {
					j.changedAlone(p, call)
				}
			}
			j.standsAloneIn(p, fn, t)
		}
	}
}

// changedAlone judges an atomic operation on the variable.
func (j *judge) changedAlone(p *session.Package, call *ssa.Call) {
	v := j.now.claim.Variable
	switch name := call.Call.StaticCallee().Name(); {
	case strings.HasPrefix(name, "Add"):
		j.sumHandedOn(p, call, pathOf(baseOf(call.Call.Args[0])))
	case strings.HasPrefix(name, "Store"):
		if _, isConst := call.Call.Args[len(call.Call.Args)-1].(*ssa.Const); isConst {
			return
		}
		if beside := setBeside(p, call); beside != nil {
			j.doubt(place{p, call}, finding.Heavy, "alone", "a reader may find one of the two set",
				"%s sets %s at %s, and another part of the object at %s", short(declared(p, call.Parent())), v, at(p, call),
				at(p, beside))
		}
	}
}

// sumHandedOn doubts an addition, or a call that returns the sum, where the result is handed on to others or
// appended to a list.
//
//	m := Message{Seq: o.number()}
//	o.mu.Lock(); o.pending = append(o.pending, m); o.mu.Unlock()
func (j *judge) sumHandedOn(p *session.Package, sum *ssa.Call, object accesspath.Path) {
	on := j.now.handsOn(p, sum, func(ssa.Instruction) bool { return true })
	if on == nil {
		on = appended(p, sum, object)
	}
	if on != nil {
		j.doubt(place{p, on}, finding.Heavy, "alone", "it is wrong if they have to come in the order of the sums",
			"%s is added to, and the sum is handed on at %s: others may come between", j.now.claim.Variable, at(p, on))
	}
}

// appended returns a store, under some lock, of a list of the object with a result of v appended to it; nil for none.
func appended(p *session.Package, v ssa.Value, object accesspath.Path) (found ssa.Instruction) {
	values := facts.Decided(v).Values
	p.Locks.Walk(v.Parent(), func(instr ssa.Instruction, st *lockset.State) {
		store, ok := instr.(*ssa.Store)
		if !ok || len(st.Held()) == 0 || object.Root == nil || pathOf(baseOf(store.Addr)) != object || !values[store.Val] {
			return
		}
		if call, ok := store.Val.(*ssa.Call); ok {
			if b, ok := call.Call.Value.(*ssa.Builtin); ok && b.Name() == "append" {
				found = instr
			}
		}
	})
	return found
}

// setBeside returns a store of the function of an atomic store to another part of its object, plain or atomic; nil for
// none.
func setBeside(p *session.Package, store *ssa.Call) ssa.Instruction {
	base := pathOf(baseOf(store.Call.Args[0]))
	for instr := range ir.Instructions(store.Parent()) {
		var addr ssa.Value
		switch instr := instr.(type) {
		case *ssa.Store:
			addr = instr.Addr
		case *ssa.Call:
			if order.On(instr, order.Atomics) == nil || !strings.HasPrefix(instr.Call.StaticCallee().Name(), "Store") {
				continue
			}
			addr = instr.Call.Args[0]
		default:
			continue
		}
		field, ok := addr.(*ssa.FieldAddr)
		isOther := ok && instr != ssa.Instruction(store) && base.Root != nil && pathOf(baseOf(field)) == base
		if isOther && p.Owners.Proven().Of(addr, instr) != ownership.Fresh {
			return instr
		}
	}
	return nil
}

// standsAloneIn doubts a function that takes two atomic steps on the variable, by itself or in callees, or tests it in
// the loop of a sync.Cond, which is woken under a lock.
func (j *judge) standsAloneIn(p *session.Package, fn *ssa.Function, t tracer) {
	if isTestOf(p, fn) {
		return
	}
	var read, written *part
	parts := j.now.atomicParts(p, fn, t, 0)
	for i, x := range parts {
		// A callee adds, and returns the sum.
		added, isAdded := x.inner.(*ssa.Call)
		if call, ok := x.instr.(*ssa.Call); ok && x.update && isAdded && returnsFrom(added.Parent(), added) {
			j.sumHandedOn(p, call, x.base)
		}
		if x.value != nil {
			read = &parts[i]
		} else if x.write {
			written = &parts[i]
		}
	}
	// Two steps that a function takes itself are for [judge.atomicOnly].
	isAsked := read != nil && written != nil && (read.inner != nil || written.inner != nil)
	if isAsked && read.base == written.base && p.IR.Flow(fn).Leads(read.instr, written.instr) {
		j.doubt(place{p, written.instr}, finding.Heavy, "alone", comesThrough,
			"%s reads %s and changes it, in two atomic steps", short(declared(p, fn)), j.now.claim.Variable)
	}
	if read == nil {
		return
	}
	j.testedToWait(p, fn)
	for x := range j.now.countedIn(p, fn) {
		if facts.Decided(read.value).Controls(x.Block()) {
			j.doubt(place{p, x}, finding.Heavy, "one step", addsBehind, "%s tests %s%s, in two steps",
				short(declared(p, fn)), j.now.claim.Variable, addsLate)
		}
	}
}

// isNew reports whether the object of an atomic operation is known to its maker alone.
func isNew(p *session.Package, call *ssa.Call) bool {
	return p.Owners.Proven().Of(call.Call.Args[0], call) == ownership.Fresh
}
