package patchgen

import (
	"go/ast"
	"go/token"
	"go/types"
)

// private reports whether no other goroutine can reach the accessed memory:
// it belongs to a struct value of the function's own, or to an object that
// the function has made and not yet handed to anybody (ownership, RacerD).
// Wrong only towards false.
func (a *access) private() bool {
	if a.mode == initial || a.fn == nil {
		return true
	}
	if a.base == nil {
		return false
	}
	root, viaPointer := a.unit.rootOf(a.base)
	if root == nil || isGlobal(root) || a.unit.m.declaring(a.unit, root) != a.fn {
		return false
	}
	if viaPointer {
		return false // x.p.f: x may be fresh, what p points to need not be
	}
	if isPointer(root.Type()) && !a.unit.allocated(root) {
		return false
	}
	return !a.unit.escapesBefore(root, a.expr, a.fn)
}

// rootOf returns the local at the root of x or x.a.b; viaPointer is set where a
// field on the way is a pointer.
func (u *unit) rootOf(e ast.Expr) (root types.Object, viaPointer bool) {
	for {
		switch x := e.(type) {
		case *ast.ParenExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		case *ast.Ident:
			return u.pkg.info.ObjectOf(x), viaPointer
		case *ast.SelectorExpr:
			if isPointer(u.pkg.info.TypeOf(x)) {
				viaPointer = true
			}
			e = x.X
		default:
			return nil, true
		}
	}
}

// allocated reports whether the local's only value is a new object.
func (u *unit) allocated(obj types.Object) bool {
	switch v := ast.Unparen(orNil(u.single[obj])).(type) {
	case *ast.UnaryExpr:
		_, lit := ast.Unparen(v.X).(*ast.CompositeLit)
		return v.Op == token.AND && lit
	case *ast.CallExpr:
		return isBuiltin(u, v, "new")
	}
	return false
}

func orNil(e ast.Expr) ast.Expr {
	if e == nil {
		return &ast.BadExpr{}
	}
	return e
}

// escapesBefore reports whether obj is used other than by selecting fields
// before the node, or in a loop around the node that does not hold obj's
// definition.
func (u *unit) escapesBefore(obj types.Object, n ast.Node, f *fn) bool {
	loop := u.outerLoop(n, obj, f)
	escapes := false
	ast.Inspect(f.body, func(x ast.Node) bool {
		id, ok := x.(*ast.Ident)
		if !ok || u.pkg.info.Uses[id] != obj || escapes {
			return true
		}
		early := id.Pos() < n.Pos() || loop != nil && id.Pos() < loop.End()
		escapes = early && (u.fnOf(id) != f || u.escaping(id))
		return true
	})
	return escapes
}

// outerLoop is the outermost loop around n, within f, that does not hold the
// definition of obj.
func (u *unit) outerLoop(n ast.Node, obj types.Object, f *fn) (loop ast.Node) {
	for p := u.parents[n]; p != nil && p != f.node; p = u.parents[p] {
		switch p.(type) {
		case *ast.ForStmt, *ast.RangeStmt:
			if obj.Pos() < p.Pos() {
				loop = p
			}
		}
	}
	return loop
}

// escaping reports whether this use of a local may hand its object on:
// anything but selecting a field of it, or comparing it.
func (u *unit) escaping(id *ast.Ident) bool {
	var e ast.Node = id
	for {
		switch p := u.parents[e].(type) {
		case *ast.ParenExpr:
			e = p
			continue
		case *ast.SelectorExpr:
			sel := u.pkg.info.Selections[p]
			if sel == nil || sel.Kind() != types.FieldVal {
				return true
			}
			if !isPointer(u.pkg.info.TypeOf(p)) {
				if _, ok := u.pkg.info.TypeOf(p).Underlying().(*types.Struct); ok {
					e = p
					continue
				}
			}
			unary, ok := u.parents[p].(*ast.UnaryExpr)
			return ok && unary.Op == token.AND
		case *ast.BinaryExpr:
			return false
		case *ast.UnaryExpr:
			return p.Op == token.AND
		case *ast.AssignStmt:
			for _, lhs := range p.Lhs {
				if lhs == e {
					return false
				}
			}
			return isPointer(u.pkg.info.TypeOf(id))
		case *ast.ReturnStmt, *ast.CallExpr:
			return isPointer(u.pkg.info.TypeOf(id))
		default:
			return isPointer(u.pkg.info.TypeOf(id))
		}
	}
}
