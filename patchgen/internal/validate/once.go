package validate

import (
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
	"github.com/interlock-go/interlock/analyzers/pass/callgraph"
	"github.com/interlock-go/interlock/analyzers/pass/lockset"
	"github.com/interlock-go/interlock/analyzers/pass/ownership"
	"github.com/interlock-go/interlock/patchgen/internal/session"
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
	for _, p := range s.snap.Packages {
		each(p, func(fn *ssa.Function, instr ssa.Instruction, _ *lockset.State) {
			st, ok := instr.(*ssa.Store)
			if ok && nameOfAddr(st.Addr) == s.claim.Lock && p.Owners.Of(st.Addr, instr) != ownership.Fresh {
				j.add("once", "%s is set again at %s", lock, at(p, instr))
			}
			if do, ok := instr.(*ssa.Call); ok && s.isDo(do) && s.comesBack(p, do) {
				j.add("once", "the function of %s comes back to it (%s)", lock, at(p, instr))
			}
		})
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
func (s *side) comesBack(p *session.Package, do *ssa.Call) bool {
	seen := map[*ssa.Function]bool{}
	var visit func(b *body) bool
	visit = func(b *body) bool {
		if seen[b.fn] {
			return false
		}
		seen[b.fn] = true
		for _, block := range b.fn.Blocks {
			for _, instr := range block.Instrs {
				call, ok := instr.(ssa.CallInstruction)
				if !ok {
					continue
				}
				if s.isDo(call) || slices.ContainsFunc(s.targets(b.pkg, call), visit) {
					return true
				}
			}
		}
		return false
	}
	return slices.ContainsFunc(s.targets(p, do), visit)
}
