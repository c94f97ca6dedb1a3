package validate

import (
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
	"github.com/interlock-go/interlock/analyzers/pass/callgraph"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
	"github.com/interlock-go/interlock/analyzers/pass/lockset"
	"github.com/interlock-go/interlock/analyzers/pass/order"
	"github.com/interlock-go/interlock/analyzers/pass/ownership"
	"github.com/interlock-go/interlock/patchgen/internal/facts"
)

// onceOnly demands that the variable is written by the function of the Once
// alone, and accessed elsewhere only behind its Do.
func (j *judge) onceOnly() {
	s := j.now
	v, lock := s.claim.Variable, short(s.claim.Lock)
	for _, u := range s.uses() {
		switch {
		case s.runByOnce(u):
		case u.write:
			j.add("once", "%s is written at %s, outside of the function that %s runs", v, at(u.pkg, u.instr), lock)
		case !s.behindOnce(u):
			j.add("once", "%s is read at %s, where %s need not have run", v, at(u.pkg, u.instr), lock)
		}
	}
	for _, p := range s.Packages {
		each(p, func(fn *ssa.Function, instr ssa.Instruction, _ *lockset.State) {
			st, ok := instr.(*ssa.Store)
			if ok && nameOfAddr(st.Addr) == s.claim.Lock && p.Owners.Of(st.Addr, instr) != ownership.Fresh {
				j.add("once", "%s is set again at %s", lock, at(p, instr))
			}
			if do, ok := instr.(*ssa.Call); ok && s.isDo(do) && s.comesBack(do) {
				j.add("once", "the function of %s comes back to it (%s)", lock, at(p, instr))
			} else if ok && s.isDo(do) {
				j.doneForGood(do)
			}
		})
	}
}

// doneForGood doubts code of others that a Once runs: one that panics has run, and nothing runs again.
func (j *judge) doneForGood(do *ssa.Call) {
	for _, fn := range j.now.Calls.Runs(do) {
		p := j.now.Of(fn)
		for instr := range ir.Instructions(fn) {
			if call, ok := instr.(*ssa.Call); ok && isUnknown(p, call) {
				j.doubt(place{p, call}, finding.Heavy, "once", "if that panics, it is never tried again",
					"%s runs %s at %s, which may be any code", short(j.now.claim.Lock), callee(call), at(p, call))
				return
			}
		}
	}
}

func nameOfAddr(addr ssa.Value) string {
	name, _ := accesspath.NameOf(addr)
	return name.String()
}

// isDo reports whether call is Do of the claim's Once.
func (s *side) isDo(call ssa.CallInstruction) bool {
	fn := call.Common().StaticCallee()
	return fn != nil && fn.String() == "(*sync.Once).Do" && nameOfAddr(call.Common().Args[0]) == s.claim.Lock
}

// isDoOf reports whether call is Do of the Once of the object at base.
func (s *side) isDoOf(call ssa.CallInstruction, base ssa.Value) bool {
	return s.isDo(call) && (base == nil || pathOf(baseOf(call.Common().Args[0])) == accesspath.Of(base))
}

// runByOnce reports whether the function of u, or one around it, is what the
// Once of the same object runs, and nobody else.
func (s *side) runByOnce(u use) bool {
	for fn := u.fn; fn != nil; fn = fn.Parent() {
		sites := u.pkg.Calls.Sites(fn)
		if len(sites) > 0 && u.pkg.Calls.Closed(fn) && !slices.ContainsFunc(sites, func(site callgraph.Site) bool {
			return !s.isDoOf(site.Instr, u.base)
		}) {
			return true
		}
	}
	return false
}

// behindOnce reports whether Do of the same object has returned at u.
func (s *side) behindOnce(u use) bool {
	for _, b := range u.fn.Blocks {
		for i, instr := range b.Instrs {
			do, ok := instr.(*ssa.Call)
			if !ok || !s.isDoOf(do, u.base) {
				continue
			}
			before := b.Dominates(u.instr.Block())
			if b == u.instr.Block() {
				before = i < slices.Index(b.Instrs, u.instr)
			}
			if before {
				return true
			}
		}
	}
	return false
}

// comesBack reports whether what do runs calls Do of the same Once.
func (s *side) comesBack(do *ssa.Call) bool {
	again := facts.NewSearch(func(instr ssa.Instruction) (string, []*ssa.Function) {
		call, ok := instr.(ssa.CallInstruction)
		switch {
		case !ok:
			return "", nil
		case s.isDo(call):
			return "comes back", nil
		}
		return "", s.Calls.Runs(call)
	})
	return slices.ContainsFunc(s.Calls.Runs(do), func(fn *ssa.Function) bool { return again.Through(fn) != "" })
}

// closedOnce demands that every close of the claim's channel runs in the sync.Once of its object, that the Once does
// nothing else and is never set again, and that nobody sends on the channel or replaces it, as a second one would
// never be closed.
func (j *judge) closedOnce() {
	s := j.now
	v, lock := s.claim.Variable, short(s.claim.Lock)
	before, _ := j.closes(j.old)
	after, closing := j.closes(s)
	if total(after) == 0 {
		j.add("closed once", "no close of %s can be followed", v)
	}
	// As often as before, and nothing else comes to the channel or the Once.
	for _, k := range append(before.more(after), after.more(before)...) {
		j.add("closed once", "%s closes it %d times, and did so %d times", short(k.function), after[k], before[k])
	}
	for _, p := range s.Packages {
		each(p, func(fn *ssa.Function, instr ssa.Instruction, _ *lockset.State) {
			switch instr := instr.(type) {
			case *ssa.Send:
				if nameOfAddr(instr.Chan) == s.claimName() {
					j.doubt(place{p, instr}, finding.Heavy, "closed once", "if so, the send panics",
						"the send at %s may find %s closed", at(p, instr), v)
				}
			case *ssa.Store:
				set := nameOfAddr(instr.Addr)
				if (set == s.claimName() || set == s.claim.Lock) && p.Owners.Of(instr.Addr, instr) != ownership.Fresh {
					j.doubt(place{p, instr}, finding.Heavy, "closed once", "if a first channel is closed by then, the second never is",
						"%s is set again at %s", set, at(p, instr))
				}
			case ssa.CallInstruction:
				isClosing := func(fn *ssa.Function) bool { return closing[fn] }
				if s.isDo(instr) && !slices.ContainsFunc(s.Calls.Runs(instr), isClosing) {
					j.add("closed once", "what %s runs at %s does not close %s", lock, at(p, instr), v)
				}
			}
		})
	}
}

// claimName returns the claim's variable as accesspath names it.
func (s *side) claimName() string {
	v := s.claim.Variable
	return accesspath.Name{Package: v.Package, Type: v.Type, Field: v.Name}.String()
}

// closes counts the closes of the claim's channel by declared function, refuses those outside of the Once, and returns
// the functions that close it.
func (j *judge) closes(s *side) (count tally, closing map[*ssa.Function]bool) {
	count, closing = tally{}, map[*ssa.Function]bool{}
	for _, p := range s.Packages {
		each(p, func(fn *ssa.Function, instr ssa.Instruction, st *lockset.State) {
			ch := order.On(instr, order.Close)
			if ch == nil {
				count.signal(s, p, fn, instr)
				return
			}
			if nameOfAddr(ch) != s.claimName() {
				// func shut(ch chan struct{}) { close(ch) }
				if s == j.now && s.isClaimsType(ch.Type()) && !isLocalChannel(ch) {
					j.doubt(place{p, instr}, finding.Heavy, "closed once", "if so, a second close panics",
						"%s may be closed under another name at %s", s.claim.Variable, at(p, instr))
				}
				return
			}
			count[tallyKey{declared(p, fn), "close"}]++
			closing[fn] = true
			u := use{base: baseOf(ir.Address(ch)), pkg: p, fn: fn, instr: instr, locks: st}
			if s == j.now && !s.runByOnce(u) {
				j.add("closed once", "%s is closed at %s outside of the sync.Once of its object", s.claim.Variable, at(p, instr))
			}
		})
	}
	return count, closing
}

// isClaimsType reports whether a channel of type t may be the one that the claim's variable holds.
func (s *side) isClaimsType(t types.Type) bool {
	v := s.claim.Variable
	in := s.Package(v.Package)
	if in == nil {
		return true
	}
	scope := in.Types.Scope()
	obj := scope.Lookup(v.Name)
	if v.Type != "" {
		obj, _, _ = types.LookupFieldOrMethod(scope.Lookup(v.Type).Type(), true, in.Types, v.Name)
	}
	elem := func(t types.Type) string {
		if ch, ok := t.Underlying().(*types.Chan); ok {
			return types.TypeString(ch.Elem(), nil)
		}
		return ""
	}
	return obj == nil || elem(obj.Type()) == elem(t)
}

// isLocalChannel reports whether a channel is known to be another one than a field or package variable holds: it has
// the name of another one, or its function has made it.
func isLocalChannel(ch ssa.Value) bool {
	_, named := accesspath.NameOf(ch)
	made, ok := accesspath.Of(ch).Root.(*ssa.MakeChan)
	return named || ok && !isKept(made)
}

// isKept reports whether a channel that a function has made is stored in a field or a package variable.
//
//	ch := make(chan int)
//	f := &feed{out: ch}
func isKept(made *ssa.MakeChan) bool {
	held := []ssa.Value{made}
	for i := 0; i < len(held); i++ {
		for _, ref := range *held[i].Referrers() {
			switch ref := ref.(type) {
			case *ssa.Store:
				if _, isField := accesspath.NameOf(ref.Addr); isField && ref.Val == held[i] {
					return true
				}
				if cell, isCell := ref.Addr.(*ssa.Alloc); isCell && ref.Val == held[i] {
					held = append(held, cell)
				}
			case *ssa.UnOp:
				if _, isCell := held[i].(*ssa.Alloc); isCell && ref.Op == token.MUL {
					held = append(held, ref)
				}
			case *ssa.ChangeType:
				held = append(held, ref)
			}
		}
	}
	return false
}
