package validate

import (
	"go/types"
	"slices"
	"sync"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/pass/callgraph"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
	"github.com/interlock-go/interlock/analyzers/pass/lockset"
	"github.com/interlock-go/interlock/patchgen/internal/facts"
	"github.com/interlock-go/interlock/patchgen/internal/session"
)

// besideStep doubts a patched function that takes in two steps what another function takes in one.
//
//	l.mu.Lock(); l.entries = append(l.entries, e); l.mu.Unlock()
//	tell(e)
//	l.mu.Lock(); l.total += e.amount; l.mu.Unlock()	// is new: Audit compares the two under the lock
func (j *judge) besideStep() {
	shared := j.now.writtenUnder()
	together := sync.OnceValue(func() map[[2]string]pair { return j.together(shared) })
	for _, p := range j.now.Packages {
		for _, fn := range p.IR.Funcs {
			if p.IR.InTest(fn) || isTestOf(p, fn) || !j.now.concerns(j, p, fn) {
				continue
			}
			s := &steps{judge: j, pkg: p, fn: fn, parts: j.now.parts(p, fn, shared), together: together}
			s.readApart()
			s.takenAlone()
			if s.isTouched() {
				s.writtenApart()
				s.computedBefore()
				s.testedToWait()
			}
		}
	}
}

// steps are the steps of one function under the claim's lock.
type steps struct {
	*judge
	pkg      *session.Package
	fn       *ssa.Function
	parts    []part
	together func() map[[2]string]pair
	regions  map[ssa.Instruction]ssa.Instruction // see regionAt; made on demand
}

// isTouched reports whether the patch changes the function itself.
func (s *steps) isTouched() bool { return s.touched[declared(s.pkg, s.fn)] }

// pair is a function that accesses two variables in one region of the lock.
type pair struct {
	place
	isWrite bool // both are written
}

// together lists the pairs of the claim's variable and another one that a function accesses in one region of the lock.
func (j *judge) together(shared map[string]bool) map[[2]string]pair {
	found := map[[2]string]pair{}
	for _, p := range j.now.Packages {
		var fn *ssa.Function
		var parts []part // of fn
		each(p, func(f *ssa.Function, instr ssa.Instruction, st *lockset.State) {
			if f != fn {
				fn, parts = f, nil
			}
			b, ok := j.now.partOf(p, instr, shared)
			if b.region = j.now.regionOf(st); !ok || b.region == nil {
				return
			}
			for _, a := range parts {
				if a.own == b.own || a.region != b.region || a.base != b.base {
					continue
				}
				key := [2]string{a.name, b.name}
				if b.own {
					key = [2]string{b.name, a.name}
				}
				found[key] = pair{place{p, instr}, found[key].isWrite || a.write && b.write}
			}
			parts = append(parts, b)
		})
	}
	return found
}

// writtenApart doubts two accesses in regions of their own, one of them a write, of which another function makes one
// step.
func (s *steps) writtenApart() {
	told := map[string]bool{}
	for _, a := range s.parts {
		for _, b := range s.parts {
			isApart := a.own && !b.own && a.region != b.region && a.base == b.base && (a.write || b.write)
			if !isApart || a.inner != nil || b.inner != nil || told[b.name] || s.isIn(b.name, a.region) {
				continue
			}
			if in, ok := s.together()[[2]string{a.name, b.name}]; ok && in.instr.Parent() != s.fn {
				told[b.name] = true
				s.doubt(place{s.pkg, a.instr}, finding.Heavy, "beside step",
					"what lies between the two steps finds one of them done",
					"%s takes the lock for %s and again for %s, which %s at %s has in one step", short(declared(s.pkg, s.fn)),
					short(b.name), short(a.name), short(declared(in.pkg, in.instr.Parent())), at(in.pkg, in.instr))
			}
		}
	}
}

// isIn reports whether a variable is accessed in a region.
func (s *steps) isIn(name string, region ssa.Instruction) bool {
	return slices.ContainsFunc(s.parts, func(x part) bool { return x.name == name && x.region == region })
}

// readApart doubts two getters that the function calls for what another function sets in one step.
//
//	return fmt.Sprintf("%v since %d", h.OK(), h.Since())	// Set sets both under the lock
func (s *steps) readApart() {
	for _, a := range s.parts {
		for _, b := range s.parts {
			isAsked := a.inner != nil && b.inner != nil && a.value != nil && b.value != nil
			if !isAsked || !a.own || b.own || a.region == b.region || a.base != b.base {
				continue
			}
			if in, ok := s.together()[[2]string{a.name, b.name}]; ok && in.isWrite {
				s.doubt(place{s.pkg, a.instr}, finding.Heavy, "beside step", "the two need not belong together",
					"%s reads %s and %s in two steps, and %s at %s sets them in one", short(declared(s.pkg, s.fn)), short(a.name),
					short(b.name), short(declared(in.pkg, in.instr.Parent())), at(in.pkg, in.instr))
				return
			}
		}
	}
}

// computedBefore doubts a store of a value that a call has computed from the same object before the lock was taken.
//
//	dump := render(f)	// takes the lock itself, or needs none
//	f.mu.Lock(); f.dump = dump; f.mu.Unlock()	// is new: others reset f.dump when they change the rest
func (s *steps) computedBefore() {
	for _, w := range s.parts {
		if !w.own || !w.write || w.inner != nil || w.base.Root == nil {
			continue
		}
		isOf := func(v ssa.Value) bool {
			made, isInterface := v.(*ssa.MakeInterface)
			return pathOf(v) == w.base || isInterface && made.X == w.base.Root
		}
		for instr := range ir.Instructions(s.fn) {
			call, ok := instr.(*ssa.Call)
			if ok && slices.ContainsFunc(call.Call.Args, isOf) && s.regionAt(call) != w.region &&
				facts.Decided(call).Feeds(w.instr) {
				s.doubt(place{s.pkg, w.instr}, finding.Heavy, "beside step",
					"if the object has changed since, what is stored is old",
					"%s stores in %s what %s at %s has computed before it takes the lock", short(declared(s.pkg, s.fn)),
					short(w.name), callee(call), at(s.pkg, call))
				return
			}
		}
	}
}

// regionAt returns the operation that took the claim's lock, if the function holds it at an instruction; nil if it does
// not.
func (s *steps) regionAt(at ssa.Instruction) ssa.Instruction {
	if s.regions == nil {
		s.regions = map[ssa.Instruction]ssa.Instruction{}
		s.pkg.Locks.Walk(s.fn, func(instr ssa.Instruction, st *lockset.State) { s.regions[instr] = s.now.regionOf(st) })
	}
	return s.regions[at]
}

// takenAlone doubts a number that is taken under the lock, by the function or for it, and used behind it, where others
// may come first.
//
//	f.mu.Lock(); f.seq++; seq := f.seq; f.mu.Unlock()
//	f.out <- Event{seq}	// perhaps behind a later one
func (s *steps) takenAlone() {
	flow := s.pkg.IR.Flow(s.fn)
	for _, r := range s.parts {
		if !r.own || r.value == nil || r.inner == nil && !s.isTouched() {
			continue
		}
		// id := f.seq; f.seq++	or	f.seq++; id := f.seq
		isTaken := slices.ContainsFunc(s.parts, func(w part) bool {
			return w.own && w.write && w.region == r.region && w.base == r.base &&
				(flow.Leads(w.instr, r.instr) || facts.Decided(r.value).Feeds(w.instr) || w.instr == r.instr && w.update)
		})
		if !isTaken {
			continue
		}
		on := appended(s.pkg, r.value, r.base)
		if on == nil && r.inner == nil {
			on = s.now.handsOn(s.pkg, r.value, func(instr ssa.Instruction) bool {
				return flow.Leads(r.instr, instr) &&
					s.regionAt(instr) != r.region
			})
		}
		if on != nil && s.regionAt(on) == r.region {
			on = nil
		}
		if on != nil {
			s.doubt(place{s.pkg, on}, finding.Heavy, "beside step", "it is wrong if they have to come in that order",
				"%s takes %s under the lock and hands it on behind it (%s): others may come between",
				short(declared(s.pkg, s.fn)), short(r.name), at(s.pkg, on))
			return
		}
	}
}

// testedToWait doubts a test of the variable before a wait for a sync.Cond without the lock.
func (s *steps) testedToWait() {
	if slices.ContainsFunc(s.parts, func(x part) bool { return x.own && x.value != nil }) {
		s.judge.testedToWait(s.pkg, s.fn)
	}
}

// handsOn returns an instruction among some that hands a result of v to others; nil for none.
func (s *state) handsOn(p *session.Package, v ssa.Value, some func(ssa.Instruction) bool) ssa.Instruction {
	values := facts.Decided(v).Values
	for instr := range ir.Instructions(v.Parent()) {
		if s.isHandedOn(p, instr) && some(instr) &&
			slices.ContainsFunc(instr.Operands(nil), func(v *ssa.Value) bool {
				return *v != nil && !isAnyList((*v).Type()) && leadsTo(values, *v)
			}) {
			return instr
		}
	}
	return nil
}

// isAnyList reports whether values of a type are lists of any, as those that functions print.
//
//	l := p.Fork("conn#%d", id)
func isAnyList(t types.Type) bool {
	list, ok := t.Underlying().(*types.Slice)
	if !ok {
		return false
	}
	elem, ok := list.Elem().Underlying().(*types.Interface)
	return ok && elem.Empty()
}

// isHandedOn reports whether an instruction hands values to others: a send, or a call of a function of the module that
// changes something.
func (s *state) isHandedOn(p *session.Package, instr ssa.Instruction) bool {
	switch instr := instr.(type) {
	case *ssa.Send, *ssa.Select:
		return true
	case *ssa.Call:
		if _, isBuiltin := instr.Call.Value.(*ssa.Builtin); isBuiltin || p.Locks.Receiver(instr) != nil {
			return false
		}
		fn, _ := callgraph.Target(instr.Common())
		return fn != nil && s.Calls.Body(fn) != nil && keeps(s.Calls.Body(fn)) // a library computes from it, or prints it
	}
	return false
}

// keeps reports whether fn itself writes to memory that others may reach, or sends.
func keeps(fn *ssa.Function) bool {
	for instr := range ir.Instructions(fn) {
		switch instr := instr.(type) {
		case *ssa.Send, *ssa.MapUpdate:
			return true
		case *ssa.Store:
			if _, isLocal := baseOf(instr.Addr).(*ssa.Alloc); !isLocal {
				return true
			}
		}
	}
	return false
}

// leadsTo reports whether v is one of the values, or a struct that was made of one.
func leadsTo(values map[ssa.Value]bool, v ssa.Value) bool {
	if values[v] {
		return true
	}
	load, ok := v.(*ssa.UnOp)
	if !ok {
		return false
	}
	made, ok := load.X.(*ssa.Alloc)
	if !ok {
		return false
	}
	// e := Event{Seq: seq}, which is made in another place and copied
	for _, ref := range *made.Referrers() {
		switch ref := ref.(type) {
		case *ssa.Store:
			copied, ok := ref.Val.(*ssa.UnOp)
			if ok && ref.Addr == ssa.Value(made) && copied.X != load.X && leadsTo(values, copied) {
				return true
			}
		case *ssa.FieldAddr:
			for _, set := range *ref.Referrers() {
				if st, ok := set.(*ssa.Store); ok && st.Addr == ssa.Value(ref) && values[st.Val] {
					return true
				}
			}
		}
	}
	return false
}
