package validate

import (
	"go/ast"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
	"github.com/interlock-go/interlock/analyzers/pass/lockset"
	"github.com/interlock-go/interlock/analyzers/pass/ownership"
	"github.com/interlock-go/interlock/patchgen/internal/session"
)

// leftBeside doubts that a patch of one field is the whole patch, where a function that it changes does the same to
// another field of the object: writes it without a lock that an exported function uses too, or reads it in the
// statement of the variable without the lock of those who write it.
//
//	v.cur.Store(n)
//	v.left = n	// Left reads it
func (j *judge) leftBeside() {
	s := j.now
	if k := s.claim.Kind; s.claim.Variable.Type == "" || k != Guarded && k != Atomic && k != Once {
		return
	}
	all, before := s.fields(), j.old.fields()
	var known []Variable
	known = append(known, s.claim.Variable)
	known = append(known, s.claim.Also...)
	for _, n := range s.claim.Neighbors {
		known = append(known, n.Variable)
	}
	for _, a := range all {
		v := Variable{Package: s.claim.Variable.Package, Type: s.claim.Variable.Type, Name: a.name}
		if !j.touched[a.function] || slices.Contains(known, v) || !a.write && !s.isBesideVariable(a, all) {
			continue
		}
		i := slices.IndexFunc(all, func(b field) bool { return a.conflicts(b) })
		if i < 0 || a.write && slices.ContainsFunc(before, a.wasHeld) || s.claim.HasPatch != nil && s.claim.HasPatch(v) {
			continue
		}
		known = append(known, v)
		j.doubt(place{a.pkg, a.instr}, finding.Light, "left", "the patch leaves that as it was",
			"%s is %s and %s without a common lock", v, a, all[i])
	}
}

// field is an access to a plain field of the claim's type, of an object that others may reach.
type field struct {
	pkg      *session.Package
	instr    ssa.Instruction
	function string // declared, around the access
	exported bool
	name     string
	write    bool
	locks    []lockset.Held
}

// String returns what is done, and where.
func (a field) String() string {
	if a.write {
		return "written at " + at(a.pkg, a.instr)
	}
	return "read at " + at(a.pkg, a.instr)
}

// conflicts reports whether a race of the two would be a part of what the finding shows: a write that an exported
// function uses too, or a read of what another function writes.
func (a field) conflicts(b field) bool {
	return a.name == b.name && a.function != b.function && (a.write && b.exported || !a.write && b.write) &&
		!haveCommonLock(a.locks, b.locks)
}

// wasHeld reports whether b, an access before the patch, is the write a under a lock: what comes under a lock only by
// the patch is guarded by none.
func (a field) wasHeld(b field) bool {
	return b.write && a.name == b.name && a.function == b.function && len(b.locks) > 0
}

// fields lists the accesses to fields of the claim's type, with the locks that are held.
func (s *side) fields() (list []field) {
	want := s.claim.Variable
	for _, p := range s.packages() {
		each(p, func(fn *ssa.Function, instr ssa.Instruction, st *lockset.State) {
			addr, write := fieldOrHolder(instr)
			f, ok := addr.(*ssa.FieldAddr)
			if !ok || !isNamed(f.X.Type(), want.Package, want.Type) || p.Calls.Roles(fn).OnlyInit() ||
				keepsStill(accesspath.FieldOf(f).Type(), 0) || p.Owners.Of(f.X, instr) == ownership.Fresh {
				return
			}
			obj, _ := ir.Outermost(fn).Object().(*types.Func)
			list = append(list, field{pkg: p, instr: instr, function: declared(p, fn), name: accesspath.FieldOf(f).Name(),
				exported: obj != nil && ast.IsExported(obj.Name()), write: write, locks: st.Held()})
		})
	}
	return list
}

// fieldOrHolder returns the address that an instruction reads or writes; a store into a map or a list is a write of
// the field that holds that.
func fieldOrHolder(instr ssa.Instruction) (addr ssa.Value, write bool) {
	switch x := instr.(type) {
	case *ssa.UnOp:
		return x.X, false
	case *ssa.MapUpdate:
		return ir.Back(x.Map, ir.Loaded), true
	case *ssa.Store:
		if element, ok := x.Addr.(*ssa.IndexAddr); ok {
			return ir.Back(element.X, ir.Loaded), true
		}
		return x.Addr, true
	}
	return nil, false
}

// isBesideVariable reports whether the claim's variable is accessed in the line of an access.
func (s *side) isBesideVariable(a field, all []field) bool {
	line := at(a.pkg, a.instr)
	return slices.ContainsFunc(all, func(b field) bool {
		return b.name == s.claim.Variable.Name && b.function == a.function && at(b.pkg, b.instr) == line
	})
}
