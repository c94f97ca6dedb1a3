package strategy

import (
	"errors"
	"fmt"
	"go/ast"
	"go/types"
	"slices"

	"github.com/interlock-go/interlock/patchgen/internal/edit"
	"github.com/interlock-go/interlock/patchgen/internal/source"
)

// mutex declares a new mutex beside the variable and takes it at every access
// in the module. A field of a struct that another struct holds by value is
// guarded as part of the outer field: a mutex in the inner struct would be
// copied with it.
func mutex(p *Problem) (*Patch, error) {
	if p.Variable.Object.Exported() && (source.IsGlobal(p.Variable.Object) || p.Variable.Owner != nil &&
		p.Variable.Owner.Obj().Exported()) && !p.nested() {
		return nil, fmt.Errorf("%s is exported: code outside the module would not take a new lock", p.Variable)
	}
	// Beside a lock that covers some of the accesses, a second one would nest in it, and
	// the object's state would be under two.
	for _, q := range p.all() {
		for _, a := range q.protectable() {
			if locks := p.Facts.Classes(a); len(locks) > 0 {
				return nil, fmt.Errorf("%s is under %s at %s: it needs that lock, not another one inside of it", q.Variable,
					source.Short(locks[0]), a.File.At(a.Expr))
			}
		}
	}
	if err := p.inTest(); err != nil {
		return nil, err
	}
	// x.stats.n: the struct that holds stats gets the lock
	h, err := p.outermost()
	if err != nil {
		return nil, err
	}
	for _, q := range h.all() {
		if err := q.fits(); err != nil {
			return nil, err
		}
	}
	// The declaration beside the variable.
	name, err := h.lockName()
	if err != nil {
		return nil, err
	}
	edits := edit.New()
	if err := h.declareLock(edits, name); err != nil {
		return nil, err
	}
	var need []*source.Access
	for _, q := range h.all() {
		need = append(need, q.protectable()...)
	}
	if len(need) == 0 {
		return nil, errors.New("no access needs a lock")
	}
	// x.f is guarded by x.fMu, a package variable or local f by fMu.
	lock := func(a *source.Access) (text, key string, err error) {
		if a.Base == nil {
			if a.File.Package.Path != h.Variable.Object.Pkg().Path() {
				return "", "", fmt.Errorf("%s: accessed from another package", a.File.At(a.Expr))
			}
			return name, name, nil
		}
		key, ok := a.HolderKey()
		if !ok {
			return "", "", fmt.Errorf("%s: the object is the result of %s", a.File.At(a.Expr), a.File.Text(a.Base))
		}
		if a.File.Package.Path != h.Variable.Object.Pkg().Path() {
			return "", "", fmt.Errorf("%s: accessed from another package", a.File.At(a.Expr))
		}
		return selectorBase(a.File, a.Base) + "." + name, key + "." + name, nil
	}
	notes, err := h.protectAll(edits, need, lock, false, nil)
	if err != nil {
		return nil, err
	}
	files, err := edits.Files()
	return &Patch{Files: files, Notes: slices.Concat(notes, h.leftOut(), h.copyNote()),
		Claim: h.claimAll(h.classOf(name), 0)}, err
}

// classOf is the lock class of the new mutex.
func (p *Problem) classOf(name string) string {
	switch {
	case p.Variable.Owner != nil:
		return source.OwnerName(p.Variable.Owner) + "." + name
	case source.IsGlobal(p.Variable.Object):
		return p.Variable.Object.Pkg().Path() + "." + name
	}
	return source.LocalClass + name + "@"
}

// leftOut notes accesses in tests, which the patch does not touch.
func (p *Problem) leftOut() []string {
	var tests []*source.Access
	for _, a := range p.Accesses {
		if a.Mode != source.Initial && p.isBeyond(a) {
			tests = append(tests, a)
		}
	}
	if len(tests) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("tests access %s without the lock: %s", p.Variable, source.Places(tests))}
}

// nested reports whether every access that a finding names reaches the field
// through an outer field of a struct that is held by value.
func (p *Problem) nested() bool {
	for e := range p.Variable.Named {
		if p.Module.FileOf(e).OuterField(e) == nil {
			return false
		}
	}
	return len(p.Variable.Named) > 0
}

// outermost is the problem of the outermost field that holds the variable by
// value, the same for all accesses that findings name; p itself if there is
// none.
func (p *Problem) outermost() (*Problem, error) {
	if p.Variable.Owner == nil || !p.nested() {
		return p, nil
	}
	var t *source.Variable
	places := map[ast.Expr]bool{}
	for e := range p.Variable.Named {
		file := p.Module.FileOf(e)
		outer := file.OuterField(e)
		for next := file.OuterField(outer); next != nil; next = file.OuterField(outer) {
			outer = next
		}
		obj := file.Package.Info.Uses[outer.Sel].(*types.Var)
		if t != nil && t.Key != source.ObjectKey(p.Module, obj) {
			return nil, fmt.Errorf("%s is held by value in several structs", p.Variable)
		}
		t = p.Module.NewVariable(obj, file, outer)
		places[outer] = true
	}
	t.Named = places
	return &Problem{Module: p.Module, Facts: p.Facts, Variable: t, Findings: p.Findings, Accesses: p.Module.Accesses(t),
		covered: p.covered}, nil
}

// fits refuses variables that a lock beside them cannot protect.
func (p *Problem) fits() error {
	t := p.Variable
	if t.Owner != nil {
		if t.Object.Exported() && t.Owner.Obj().Exported() {
			return fmt.Errorf("%s is exported: code outside the module would not take a new lock", t)
		}
		if err := p.Module.NoNewField(t.Owner, "a lock"); err != nil {
			return err
		}
	} else if t.Object.IsField() {
		return fmt.Errorf("%s is a field of an unnamed struct", t)
	}
	for _, a := range p.Accesses {
		if a.Mode == source.Atomic {
			return fmt.Errorf("%s is accessed atomically at %s: a lock would not exclude that", t, a.File.At(a.Expr))
		}
	}
	return nil
}
