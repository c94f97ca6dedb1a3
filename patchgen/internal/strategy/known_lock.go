package strategy

import (
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"github.com/interlock-go/interlock/patchgen/internal/facts"
	"github.com/interlock-go/interlock/patchgen/internal/source"
)

// knownLock is an existing lock: a field, or a package variable.
type knownLock struct {
	problem  *Problem
	class    string
	owner    *types.Named // nil for a package variable
	field    string
	hasRLock bool
	pkg      *types.Package
	local    types.Object // the variable itself, for a lock in a local
	declared types.Object // the field or variable
	// embedded locks are called through the object itself.
	embedded  bool
	isPointer bool // copies of its struct have the same one
	// stripes is set for an array of locks, each for the part of another list that has its index: s.locks[i].
	stripes bool
}

// sourceOf writes the lock of the object x.
func (k *knownLock) sourceOf(x string) string {
	if k.embedded {
		return x
	}
	return x + "." + k.field
}

func (k *knownLock) isBeside(t *source.Variable) bool {
	return k.owner == nil || t.Owner != nil && source.SameNamed(k.owner, t.Owner)
}

// held returns what is known of the lock at an access. A lock beside the
// variable must be that of the same object.
func (k *knownLock) held(a *source.Access) (held facts.Held, known bool) {
	lock := facts.Lock{Class: k.class}
	if k.owner != nil && k.isBeside(k.problem.Variable) && a.Base != nil {
		lock.Sibling = k.field
	}
	return k.problem.Facts.Held(a, lock)
}

// findLock finds the declaration of a lock class.
func (p *Problem) findLock(class string) (*knownLock, error) {
	if key, ok := strings.CutPrefix(class, source.LocalClass); ok {
		return p.findLocal(key)
	}
	// pkg.mu is a package variable, pkg.T.mu a field of one of its types.
	var found *knownLock
	for _, q := range p.Module.Packages {
		scope := q.Types.Scope()
		for _, name := range scope.Names() {
			obj := scope.Lookup(name)
			full := obj.Pkg().Path() + "." + name
			if _, isVar := obj.(*types.Var); isVar && full == class {
				found = &knownLock{problem: p, class: class, field: name, hasRLock: source.HasRLock(obj.Type()), pkg: obj.Pkg(),
					declared: obj}
			}
			tn, isType := obj.(*types.TypeName)
			field, ok := strings.CutPrefix(class, full+".")
			if !isType || !ok {
				continue
			}
			st, isStruct := source.StructOf(tn.Type())
			for i := 0; isStruct && i < st.NumFields(); i++ {
				if f := st.Field(i); f.Name() == field {
					found = &knownLock{problem: p, class: class, owner: source.Named(tn.Type()), field: field,
						hasRLock: source.HasRLock(f.Type()), pkg: obj.Pkg(), embedded: f.Embedded(), declared: f}
				}
			}
		}
	}
	if found == nil {
		return nil, fmt.Errorf("its declaration is not in the module")
	}
	if list, ok := found.declared.Type().Underlying().(*types.Array); ok {
		found.stripes, found.hasRLock = true, source.HasRLock(list.Elem())
	}
	return found, nil
}

// findLocal finds a lock in a local variable that the function around the
// protected local declares too.
func (p *Problem) findLocal(key string) (*knownLock, error) {
	if p.Variable.Function == nil {
		return nil, errors.New("it is a local variable")
	}
	file := p.Variable.Function.File
	for id, obj := range file.Package.Info.Defs {
		if obj != nil && p.Variable.Function.Node.Pos() <= id.Pos() && id.Pos() < p.Variable.Function.Node.End() &&
			source.ObjectKey(p.Module, obj) == key {
			return &knownLock{problem: p, class: source.LocalClass + key, field: obj.Name(),
				hasRLock: source.HasRLock(obj.Type()), pkg: obj.Pkg(), local: obj, declared: obj}, nil
		}
	}
	return nil, errors.New("its declaration is in another function")
}

// expr writes the lock for an access: beside the variable, or reached through
// the one variable in scope that leads to it.
func (k *knownLock) expr(a *source.Access) (text, key string, err error) {
	file := a.File
	if file.Package.Path != k.pkg.Path() && !token.IsExported(k.field) {
		return "", "", fmt.Errorf("%s: the lock belongs to another package", file.At(a.Expr))
	}
	switch {
	case k.stripes:
		return k.stripe(a)
	case k.local != nil:
		if scope := k.local.Parent(); scope == nil || !scope.Contains(a.Expr.Pos()) || k.local.Pos() > a.Expr.Pos() {
			return "", "", fmt.Errorf("%s: %s is not in scope", file.At(a.Expr), k.field)
		}
		return k.field, strings.TrimPrefix(k.class, source.LocalClass), nil
	case k.owner == nil:
		if file.Package.Path != k.pkg.Path() {
			return "", "", fmt.Errorf("%s: the lock belongs to another package", file.At(a.Expr))
		}
		return k.field, k.class, nil
	case k.isBeside(k.problem.Variable):
		key, ok := a.HolderKey()
		if !ok {
			return "", "", fmt.Errorf("%s: the object is the result of %s", file.At(a.Expr), file.Text(a.Base))
		}
		return k.sourceOf(selectorBase(file, a.Base)), key + "." + k.field, nil
	}
	return k.inScope(a)
}

// inScope finds the object with the lock on the way to the accessed one, the receiver or parameter that holds the lock,
// or the field of the accessed object that leads back to it.
func (k *knownLock) inScope(a *source.Access) (text, key string, err error) {
	file := a.File
	// t.stats.n: the lock is t.mu
	for base := a.Base; base != nil; {
		if at, ok := file.PathOf(base); ok && base != a.Base && source.SameNamed(source.Named(file.TypeOf(base)), k.owner) {
			return k.sourceOf(selectorBase(file, base)), at.Key + "." + k.field, nil
		}
		sel, ok := ast.Unparen(base).(*ast.SelectorExpr)
		if !ok {
			break
		}
		base = sel.X
	}
	var names []types.Object
	for f := a.Function; f != nil; f = f.Outer {
		for _, obj := range f.Params() {
			if obj != nil && obj.Name() != "_" && source.SameNamed(source.Named(obj.Type()), k.owner) {
				names = append(names, obj)
			}
		}
	}
	if len(names) == 1 {
		return k.sourceOf(names[0].Name()), source.ObjectKey(file.Module, names[0]) + "." + k.field, nil
	}
	if a.Base != nil && len(names) == 0 {
		at, ok := file.PathOf(a.Base)
		back := k.backPointer(file.TypeOf(a.Base))
		if ok && back != "" {
			return k.sourceOf(selectorBase(file, a.Base) + "." + back), at.Key + "." + back + "." + k.field, nil
		}
	}
	return "", "", fmt.Errorf("%s: no single variable in scope leads to the lock", file.At(a.Expr))
}

// stripe writes the lock for the part that an access is in: s.locks[i] for s.parts[i].n.
func (k *knownLock) stripe(a *source.Access) (text, key string, err error) {
	file := a.File
	for e := a.Whole; e != nil; {
		switch x := ast.Unparen(e).(type) {
		case *ast.CallExpr:
			e = x.Fun
		case *ast.SelectorExpr:
			e = x.X
		case *ast.IndexExpr:
			list, ok := ast.Unparen(x.X).(*ast.SelectorExpr)
			part, isPath := file.PathOf(x)
			if !ok || !isPath || !source.SameNamed(source.Named(file.TypeOf(list.X)), k.owner) {
				e = x.X
				continue
			}
			object, _ := file.PathOf(list.X)
			whole, _ := file.PathOf(list)
			index := strings.TrimPrefix(part.Key, whole.Key)
			return fmt.Sprintf("%s.%s[%s]", selectorBase(file, list.X), k.field, file.Text(x.Index)),
				object.Key + "." + k.field + index, nil
		default:
			e = nil
		}
	}
	return "", "", fmt.Errorf("%s: which of the locks is for this part is not known", file.At(a.Expr))
}

// backPointer names the one field of a struct that points to the lock's owner.
func (k *knownLock) backPointer(t types.Type) string {
	st, ok := source.StructOf(t)
	if !ok {
		return ""
	}
	name := ""
	for i := range st.NumFields() {
		if f := st.Field(i); source.SameNamed(source.Named(f.Type()), k.owner) {
			if name != "" {
				return ""
			}
			name = f.Name()
		}
	}
	return name
}

// param returns the one receiver or parameter of a function that is the lock's owner, by pointer unless the lock is
// one; nil if there is none.
func (k *knownLock) param(f *source.Function) (found types.Object) {
	for _, obj := range f.Params() {
		if obj == nil || obj.Name() == "_" || !source.SameNamed(source.Named(obj.Type()), k.owner) ||
			!k.isPointer && !source.IsPointer(obj.Type()) {
			continue
		}
		if found != nil {
			return nil
		}
		found = obj
	}
	return found
}

// atStart writes the lock as it is reached where f starts.
func (k *knownLock) atStart(f *source.Function) (text string, err error) {
	switch obj := k.param(f); {
	case k.owner == nil && k.local == nil && f.File.Package.Path == k.pkg.Path():
		return k.field, nil
	case obj == nil:
		return "", fmt.Errorf("the lock has no name where %s starts", f.Name())
	default:
		return k.sourceOf(obj.Name()), nil
	}
}

// isUsedIn reports whether a function takes or releases the lock itself.
func (k *knownLock) isUsedIn(f *source.Function) (used bool) {
	f.EachCall(func(call *ast.CallExpr) {
		op, ok := f.File.LockOp(call)
		used = used || ok && op.Path.Class == k.class
	})
	return used
}
