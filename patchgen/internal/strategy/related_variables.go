package strategy

import (
	"go/ast"
	"go/types"
	"slices"

	"github.com/interlock-go/interlock/patchgen/internal/critsec"
	"github.com/interlock-go/interlock/patchgen/internal/source"
)

// relatedVariables finds accesses of other variables under the lock class that share a
// function with accesses to cover.
type relatedVariables struct {
	problem *Problem
	lock    *knownLock
	byKey   map[string]*guardedVariable
}

// guardedVariable is a variable that the lock guards too: it is written under it. nil
// stands for one that it does not guard.
type guardedVariable struct {
	variable *source.Variable
	accesses []*source.Access
	lock     *knownLock
}

// addTo adds to a cover the accesses of other variables without the lock
// that an access of the cover decides about, or that decide about one; and
// notes those that hold it already.
func (r *relatedVariables) addTo(c *critsec.Task) {
	own := c.In(c.Function.Body)
	for _, m := range r.accessedIn(c.Function) {
		for _, a := range m.accesses {
			if a.Mode == source.Address || a.Mode == source.Atomic || a.Outermost() != c.Function {
				continue
			}
			text, _, err := m.lock.expr(a)
			if err != nil || text != c.Lock {
				continue
			}
			isLinked := func(b *source.Access) bool { return c.Facts.Decides(a, b) || c.Facts.Decides(b, a) }
			if held, _ := m.lock.held(a); held.Perhaps {
				c.AlreadyHeld = append(c.AlreadyHeld, a)
			} else if slices.ContainsFunc(own, isLinked) {
				c.Accesses[a.Expr] = a
			}
		}
	}
	for _, a := range r.problem.protectable() {
		if a.Outermost() != c.Function || c.Accesses[a.Expr] != nil {
			continue
		}
		if held, _ := r.lock.held(a); held.Perhaps {
			c.AlreadyHeld = append(c.AlreadyHeld, a)
		}
	}
}

// accessedIn lists the variables accessed in f that the lock guards too.
func (r *relatedVariables) accessedIn(f *source.Function) []*guardedVariable {
	var out []*guardedVariable
	seen := map[string]bool{}
	ast.Inspect(f.Body, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok {
			return true
		}
		e, obj := f.File.VariableOf(id)
		if obj == nil || f.File.Package.Info.Defs[id] != nil {
			return true
		}
		key := source.ObjectKey(r.problem.Module, obj)
		if key == r.problem.Variable.Key || seen[key] {
			return true
		}
		seen[key] = true
		if m := r.guardedVariable(key, obj, f.File, e); m != nil {
			out = append(out, m)
		}
		return true
	})
	return out
}

// guardedVariable looks a variable up, or at all its accesses in the module.
func (r *relatedVariables) guardedVariable(key string, obj *types.Var, file *source.File, e ast.Expr) *guardedVariable {
	if m, known := r.byKey[key]; known {
		return m
	}
	r.byKey[key] = nil
	t := r.problem.Module.NewVariable(obj, file, e)
	if source.Lockable(obj.Type()) || !r.isBeside(t) {
		return nil
	}
	t.Deep = source.IsMap(obj.Type()) || r.problem.Module.MutatedInPlace(t)
	p := &Problem{Module: r.problem.Module, Facts: r.problem.Facts, Variable: t, Accesses: r.problem.Module.Accesses(t)}
	lock := *r.lock
	lock.problem = p
	m := &guardedVariable{variable: t, accesses: p.protectable(), lock: &lock}
	for _, a := range m.accesses {
		if held, _ := lock.held(a); held.Surely && !held.ReadOnly && a.Mode.Writes() {
			r.byKey[key] = m
		}
	}
	return r.byKey[key]
}

// isBeside reports whether a variable lies where the lock or the protected
// variable lies.
func (r *relatedVariables) isBeside(t *source.Variable) bool {
	switch {
	case t.Owner != nil:
		return source.SameNamed(t.Owner, r.lock.owner) || source.SameNamed(t.Owner, r.problem.Variable.Owner)
	case t.Object.IsField():
		return false
	case source.IsGlobal(t.Object):
		return r.lock.owner == nil && r.lock.local == nil && t.Object.Pkg().Path() == r.lock.pkg.Path()
	}
	return r.lock.local != nil && t.Function == r.problem.Variable.Function
}
