package strategy

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/patchgen/internal/edit"
	"github.com/interlock-go/interlock/patchgen/internal/source"
)

// newMutex lists the ways to take a new mutex: around the accesses, and by whole functions. Where the second is less,
// or the first leaves steps apart, it comes first.
func newMutex(p *Problem) []Strategy {
	return []Strategy{
		{Name: "mutex", build: func(p *Problem) (*Patch, error) {
			first, _, err := mutex(p)
			return first, err
		}},
		{Name: "mutex", build: func(p *Problem) (*Patch, error) {
			_, second, err := mutex(p)
			if err != nil || second == nil {
				return nil, ErrNoVariant
			}
			return second, nil
		}},
	}
}

// mutex declares a new mutex beside the variable and takes it at every access
// in the module. A field of a struct that another struct holds by value is
// guarded as part of the outer field: a mutex in the inner struct would be
// copied with it. It returns the better of two patches first; second is nil where there is one alone.
func mutex(p *Problem) (first, second *Patch, err error) {
	if p.Variable.Object.Exported() && (source.IsGlobal(p.Variable.Object) || p.Variable.Owner != nil &&
		p.Variable.Owner.Obj().Exported()) && !p.nested() {
		if err := p.exported(p.Variable); err != nil {
			return nil, nil, err
		}
	}
	if err := p.inTest(); err != nil {
		return nil, nil, err
	}
	// x.stats.n: the struct that holds stats gets the lock
	h, err := p.outermost()
	if err != nil {
		return nil, nil, err
	}
	h.Bold = p.Bold
	for _, q := range h.all() {
		if err := cmp.Or(q.underAnother(), q.fits()); err != nil {
			return nil, nil, err
		}
	}
	if h != p {
		p.doubts = append(p.doubts, h.doubts...)
	}
	// The declaration beside the variable.
	name, err := h.lockName()
	if err != nil {
		return nil, nil, err
	}
	var need []*source.Access
	for _, q := range h.all() {
		need = append(need, q.protectable()...)
	}
	if len(need) == 0 {
		return nil, nil, errors.New("no access needs a lock")
	}
	// x.f is guarded by x.fMu, a package variable or local f by fMu.
	lock := h.asKnown(name)
	// Regions around the accesses, or whole functions where that is less.
	regions, err := h.newLock(name, func(edits *edit.Edits) ([]string, error) {
		return h.protectAll(edits, need, lock.expr, false, nil)
	})
	if h.Variable.Function != nil {
		return regions, nil, err // a local
	}
	whole, wholeErr := h.newLock(name, func(edits *edit.Edits) ([]string, error) {
		all, err := h.takeAtStart(need, lock, true)
		if err == nil {
			edits.Join(all)
		}
		return nil, err
	})
	switch {
	case wholeErr != nil:
		return regions, nil, err
	case err != nil:
		return whole, nil, nil
	case len(regions.Notes) > len(whole.Notes) || whole.lines() < regions.lines():
		return whole, regions, nil
	}
	return regions, whole, nil
}

// newLock makes the patch that declares a lock and takes it in some way, which returns notes.
func (p *Problem) newLock(name string, take func(*edit.Edits) ([]string, error)) (*Patch, error) {
	edits := edit.New()
	if err := p.declareLock(edits, name); err != nil {
		return nil, err
	}
	notes, err := take(edits)
	if err != nil {
		return nil, err
	}
	files, err := edits.Files()
	return &Patch{Files: files, Notes: slices.Concat(notes, p.leftOut(), p.copyNote()),
		Claim: p.claimAll(p.classOf(name), 0)}, err
}

// asKnown returns the new lock as one that is there.
func (p *Problem) asKnown(name string) *knownLock {
	t := p.Variable
	return &knownLock{problem: p, class: p.classOf(name), owner: t.Owner, field: name, pkg: t.Object.Pkg(),
		isPointer: p.byPointer}
}

// lines returns how many lines the files of a patch have.
func (out *Patch) lines() (n int) {
	for _, data := range out.Files {
		n += bytes.Count(data, []byte("\n"))
	}
	return n
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

// underAnother refuses variables that are under a lock at some access which the others could take too: beside it a
// second one would nest in it, and the object's state would be under two. A lock of another object is no reason where
// it has no name at an access without it: nothing but a new one can cover that. Nor is that of an object for a package
// variable, which all objects of the type share: guard has tried it, and it would do only if there were one of them.
func (p *Problem) underAnother() error {
	accs := p.protectable()
	for _, a := range accs {
		for _, class := range p.Facts.Classes(a) {
			err := fmt.Errorf("%s is under %s at %s: it needs that lock, not another one inside of it", p.Variable,
				source.Short(class), a.File.At(a.Expr))
			switch {
			case isLockOf(p.Variable, class):
				return err
			case source.IsGlobal(p.Variable.Object) && !isOfNoType(class):
			case !p.canName(class, accs):
			case isOfNoType(class) || p.open(finding.Light, "the new one nests in it", err) != nil:
				return err
			}
		}
	}
	return nil
}

// canName reports whether a lock has a name at each of the accesses that are made without it.
func (p *Problem) canName(class string, accs []*source.Access) bool {
	lock, err := p.findLock(class)
	switch {
	case err != nil:
		return false
	case lock.stripes: // a caller may have a name for it
		return true
	}
	return !slices.ContainsFunc(accs, func(a *source.Access) bool {
		if slices.Contains(p.Facts.Classes(a), class) {
			return false
		}
		_, _, err := lock.expr(a)
		return err != nil
	})
}

// exported is why a variable cannot get a lock that code outside of the module does not know.
func (p *Problem) exported(t *source.Variable) error {
	return p.open(finding.Light, "such code races with the module's as before",
		fmt.Errorf("%s is exported: code outside the module would not take a new lock", t))
}

// isLockOf reports whether a class of locks is of the object that a variable belongs to.
func isLockOf(t *source.Variable, class string) bool {
	return t.Owner != nil && strings.HasPrefix(class, source.OwnerName(t.Owner)+".")
}

// isOfNoType reports whether a class of locks is that of a package variable or a local.
func isOfNoType(class string) bool { return strings.Count(source.Short(class), ".") < 2 }

// fits refuses variables that a lock beside them cannot protect.
func (p *Problem) fits() error {
	t := p.Variable
	if t.Owner != nil {
		if t.Object.Exported() && t.Owner.Obj().Exported() {
			if err := p.exported(t); err != nil {
				return err
			}
		}
		if err := p.Module.NoNewField(t.Owner, "a lock"); err != nil {
			if _, isStruct := t.Object.Type().Underlying().(*types.Struct); isStruct || !t.Within || t.Owner.Obj().Exported() {
				return err
			}
			p.byPointer = true // all copies refer to one object
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
