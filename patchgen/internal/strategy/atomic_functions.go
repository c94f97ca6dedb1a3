package strategy

import (
	"fmt"
	"go/types"
	"strings"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/patchgen/internal/source"
)

// byFunctions admits a variable that functions of sync/atomic take already; or that nobody outside of the module
// accesses, in a struct that is not copied, and where also a machine of 32 bits can access it in one step.
func (w *atomicWriter) byFunctions() error {
	t := w.problem.Variable
	switch {
	case !w.isOld:
		return nil
	case t.Object.Exported() && (t.Owner == nil || t.Owner.Obj().Exported()):
		return fmt.Errorf("%s is exported: code outside the module would access it plainly", t)
	case t.Owner == nil && t.Object.IsField():
		return fmt.Errorf("%s is a field of an unnamed struct", t)
	case t.Owner == nil:
		return nil // a variable of its own is aligned
	}
	if err := w.problem.Module.NoNewField(t.Owner, "an atomic"); err != nil {
		return err
	}
	if !strings.HasSuffix(w.elem, "64") || w.problem.isAligned() {
		return nil
	}
	return w.problem.open(finding.Light, "if it is not, the operation panics there",
		fmt.Errorf("%s may not be aligned to 64 bits on a machine of 32 bits", t))
}

// isAligned reports whether a field is aligned to 64 bits on machines of 32 bits too. Only the beginning of what is
// allocated by itself is aligned there, so the struct must lie in nothing else.
func (p *Problem) isAligned() bool {
	owner := p.Variable.Owner
	st, ok := source.StructOf(owner)
	if !ok || owner.TypeParams().Len() > 0 || owner.Obj().Exported() {
		return false
	}
	var fields []*types.Var
	at := -1
	for i := range st.NumFields() {
		if fields = append(fields, st.Field(i)); st.Field(i).Name() == p.Variable.Name {
			at = i
		}
	}
	if at < 0 || types.SizesFor("gc", "386").Offsetsof(fields)[at]%8 != 0 {
		return false
	}
	// struct{ ok bool; s owner }, []owner
	for _, q := range p.Module.Packages {
		for _, tv := range q.Info.Types {
			if tv.Type != nil && holdsWithin(tv.Type, owner) {
				return false
			}
		}
	}
	return true
}

// holdsWithin reports whether a struct, list or map of type t has values of the named type in it.
func holdsWithin(t types.Type, owner *types.Named) bool {
	isOwner := func(t types.Type) bool { return !source.IsPointer(t) && source.SameNamed(source.Named(t), owner) }
	switch u := t.Underlying().(type) {
	case *types.Array:
		return isOwner(u.Elem())
	case *types.Slice:
		return isOwner(u.Elem())
	case *types.Struct:
		for f := range u.Fields() {
			if isOwner(f.Type()) {
				return true
			}
		}
	}
	return false
}
