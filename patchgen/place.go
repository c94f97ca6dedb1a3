package patchgen

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

// place is where an expression such as x.a.b leads: a root variable and the
// fields from there. Two expressions with the same key denote the same memory
// as long as nothing on the way is assigned in between.
type place struct {
	key   string
	class string // what a lock at that place is called: "pkg.T.mu", "pkg.mu", localClass and its key
	root  types.Object
}

// localClass starts the class of locks in local variables.
const localClass = "local "

// place of e; ok is false where e holds a call or anything else that may lead
// elsewhere the next time.
func (u *unit) place(e ast.Expr) (place, bool) {
	switch e := e.(type) {
	case *ast.ParenExpr:
		return u.place(e.X)
	case *ast.StarExpr:
		return u.place(e.X)
	case *ast.UnaryExpr:
		if e.Op == token.AND {
			return u.place(e.X)
		}
	case *ast.Ident:
		return u.identPlace(e)
	case *ast.SelectorExpr:
		return u.selectorPlace(e)
	case *ast.IndexExpr:
		return u.indexPlace(e)
	}
	return place{}, false
}

func (u *unit) identPlace(id *ast.Ident) (place, bool) {
	obj, ok := u.pkg.info.ObjectOf(id).(*types.Var)
	if !ok {
		return place{}, false
	}
	if isGlobal(obj) {
		name := obj.Pkg().Path() + "." + obj.Name()
		return place{key: name, class: name, root: obj}, true
	}
	if value := u.single[obj]; value != nil && isPointer(obj.Type()) {
		if p, ok := u.place(value); ok {
			return p, true
		}
	}
	key := objKey(u.m, obj)
	return place{key: key, class: localClass + key, root: obj}, true
}

func (u *unit) selectorPlace(e *ast.SelectorExpr) (place, bool) {
	sel := u.pkg.info.Selections[e]
	if sel == nil {
		return u.identPlace(e.Sel) // pkg.Var
	}
	if sel.Kind() != types.FieldVal {
		return place{}, false
	}
	base, ok := u.place(e.X)
	if !ok {
		return place{}, false
	}
	return base.through(sel.Recv(), sel.Index()), true
}

// through follows a selection's index path from a value of type t.
func (p place) through(t types.Type, index []int) place {
	for _, i := range index {
		st, ok := structOf(t)
		if !ok || i >= st.NumFields() {
			return p
		}
		f := st.Field(i)
		p.key += "." + f.Name()
		p.class = ownerName(t) + "." + f.Name()
		t = f.Type()
	}
	return p
}

func (u *unit) indexPlace(e *ast.IndexExpr) (place, bool) {
	base, ok := u.place(e.X)
	if !ok {
		return place{}, false
	}
	switch i := e.Index.(type) {
	case *ast.BasicLit:
		base.key += "[" + i.Value + "]"
	case *ast.Ident:
		obj := u.pkg.info.ObjectOf(i)
		if obj == nil {
			return place{}, false
		}
		base.key += "[" + objKey(u.m, obj) + "]"
	default:
		return place{}, false
	}
	base.class += "[]"
	return base, true
}

// objKey identifies an object across the variants of its package, which share
// positions but not objects.
func objKey(m *Module, obj types.Object) string {
	if v, ok := obj.(*types.Var); ok {
		obj = v.Origin()
	}
	p := m.fset.PositionFor(obj.Pos(), false)
	return fmt.Sprintf("%s@%s:%d:%d", obj.Name(), p.Filename, p.Line, p.Column)
}

func isGlobal(obj types.Object) bool {
	return obj.Pkg() != nil && obj.Parent() == obj.Pkg().Scope()
}

func isPointer(t types.Type) bool {
	_, ok := t.Underlying().(*types.Pointer)
	return ok
}

func deref(t types.Type) types.Type {
	if p, ok := t.Underlying().(*types.Pointer); ok {
		return p.Elem()
	}
	return t
}

func structOf(t types.Type) (*types.Struct, bool) {
	st, ok := deref(types.Unalias(t)).Underlying().(*types.Struct)
	return st, ok
}

// named returns the origin of the named type behind t or *t.
func named(t types.Type) *types.Named {
	if n, ok := types.Unalias(deref(types.Unalias(t))).(*types.Named); ok {
		return n.Origin()
	}
	return nil
}

func ownerName(t types.Type) string {
	n := named(t)
	if n == nil {
		return "struct"
	}
	if n.Obj().Pkg() == nil {
		return n.Obj().Name()
	}
	return n.Obj().Pkg().Path() + "." + n.Obj().Name()
}

// short drops directories from the import path of a lock class, for reasons
// that people read.
func short(class string) string {
	if key, ok := strings.CutPrefix(class, localClass); ok {
		name, _, _ := strings.Cut(key, "@")
		return name
	}
	return class[strings.LastIndexByte(class, '/')+1:]
}

// singleAssigned finds the locals of a file that are assigned once, by their
// definition, and whose address nobody takes: other names for another place.
func singleAssigned(u *unit) map[types.Object]ast.Expr {
	values := map[types.Object]ast.Expr{}
	count := map[types.Object]int{}
	assign := func(lhs, rhs ast.Expr) {
		id, ok := ast.Unparen(lhs).(*ast.Ident)
		if !ok {
			return
		}
		obj := u.pkg.info.ObjectOf(id)
		if obj == nil {
			return
		}
		count[obj]++
		if rhs == nil {
			count[obj]++
		}
		values[obj] = rhs
	}
	ast.Inspect(u.file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for i, lhs := range n.Lhs {
				if len(n.Lhs) == len(n.Rhs) {
					assign(lhs, n.Rhs[i])
				} else {
					assign(lhs, nil)
				}
			}
		case *ast.ValueSpec:
			for i, name := range n.Names {
				if len(n.Names) == len(n.Values) {
					assign(name, n.Values[i])
				}
			}
		case *ast.IncDecStmt:
			assign(n.X, nil)
		case *ast.RangeStmt:
			if n.Key != nil {
				assign(n.Key, nil)
			}
			if n.Value != nil {
				assign(n.Value, nil)
			}
		case *ast.UnaryExpr:
			if n.Op == token.AND {
				assign(n.X, nil)
			}
		}
		return true
	})
	for obj, n := range count {
		if n != 1 || isGlobal(obj) {
			delete(values, obj)
		}
	}
	return values
}
