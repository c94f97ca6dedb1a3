package validate

import (
	"maps"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
)

// handedBack doubts a patched function that takes the lock now and returns a pointer to a struct of which the lock
// guards fields too: its callers use them behind the lock.
//
//	s.mu.RLock(); defer s.mu.RUnlock(); return s.byID[id]	// is new
//	e := s.find(id); …; e.expires	// which Extend writes under s.mu
func (j *judge) handedBack() {
	var shared map[string]bool // made on demand
	for _, p := range j.now.Packages {
		for _, fn := range p.IR.Funcs {
			name := declared(p, fn)
			if p.IR.InTest(fn) || !j.touched[name] || !j.now.takesItself(fn) || j.old.tookItself(p.Path, name) {
				continue
			}
			for _, v := range returned(fn) {
				if !isFetched(v, 0) {
					continue
				}
				if shared == nil {
					shared = j.now.writtenUnder()
				}
				if field := guardedField(v, shared); field != "" {
					j.doubt(place{p, v.(ssa.Instruction)}, finding.Heavy, "handed back", stillRace,
						"%s returns what leads to %s, which is written under the lock as well, and its callers have no lock then",
						short(name), short(field))
				}
			}
		}
	}
}

// tookItself reports whether the function of a name, or a literal in it, locks the claim's lock.
func (s *side) tookItself(pkg, name string) bool {
	p := s.Package(pkg)
	return p != nil && slices.ContainsFunc(p.IR.Funcs, func(fn *ssa.Function) bool {
		return declared(p, fn) == name && s.takesItself(fn)
	})
}

// returned lists the results of the returns of fn.
func returned(fn *ssa.Function) (all []ssa.Value) {
	for _, b := range fn.Blocks {
		if ret, ok := b.Instrs[len(b.Instrs)-1].(*ssa.Return); ok {
			all = append(all, ret.Results...)
		}
	}
	return all
}

// isFetched reports whether v is read from memory: an entry of a map, a field, or an element.
func isFetched(v ssa.Value, depth int) bool {
	switch v := v.(type) {
	case *ssa.Lookup:
		return true
	case *ssa.Extract:
		return isFetched(v.Tuple, depth)
	case *ssa.Phi:
		return depth < maxLevel && slices.ContainsFunc(v.Edges, func(e ssa.Value) bool { return isFetched(e, depth+1) })
	case *ssa.UnOp:
		switch addr := v.X.(type) {
		case *ssa.FieldAddr, *ssa.IndexAddr, *ssa.Global:
			return true
		case *ssa.Alloc: // a result, which a deferred call may change
			return depth < maxLevel && slices.ContainsFunc(accesspath.Stored(addr),
				func(e ssa.Value) bool { return isFetched(e, depth+1) })
		}
	}
	return false
}

// takesItself reports whether fn locks the claim's lock in its own body.
func (s *side) takesItself(fn *ssa.Function) bool {
	for instr := range ir.Instructions(fn) {
		call, ok := instr.(ssa.CallInstruction)
		if !ok {
			continue
		}
		if lock := s.Of(fn).Locks.Receiver(call); lock != nil && nameOfAddr(lock) == s.claim.Lock {
			return true
		}
	}
	return false
}

// guardedField returns a variable among the shared that is a field of the struct to which v points; "" for none.
func guardedField(v ssa.Value, shared map[string]bool) string {
	if c, ok := v.(*ssa.Const); ok && c.IsNil() {
		return ""
	}
	named, ok := ir.Named(v.Type())
	if !ok || named.Obj().Pkg() == nil || !refers(v.Type()) {
		return ""
	}
	prefix := named.Obj().Pkg().Path() + "." + finding.TypeName(named.Obj()) + "."
	for _, name := range slices.Sorted(maps.Keys(shared)) {
		if strings.HasPrefix(name, prefix) {
			return name
		}
	}
	return ""
}
