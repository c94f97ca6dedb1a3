package source

import (
	"go/ast"
	"go/token"
	"go/types"
)

// RootOf returns the local at the root of x or x.a.b; viaPointer is set where a
// field on the way is a pointer.
func (file *File) RootOf(e ast.Expr) (root types.Object, viaPointer bool) {
	for {
		switch x := e.(type) {
		case *ast.ParenExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		case *ast.Ident:
			return file.Package.Info.ObjectOf(x), viaPointer
		case *ast.SelectorExpr:
			if IsPointer(file.TypeOf(x)) {
				viaPointer = true
			}
			e = x.X
		default:
			return nil, true
		}
	}
}

// Allocated reports whether the local's only value is a new object.
func (file *File) Allocated(obj types.Object) bool {
	switch v := ast.Unparen(orNil(file.singleValue[obj])).(type) {
	case *ast.UnaryExpr:
		_, lit := ast.Unparen(v.X).(*ast.CompositeLit)
		return v.Op == token.AND && lit
	case *ast.CallExpr:
		return IsBuiltin(file, v, "new")
	}
	return false
}

func orNil(e ast.Expr) ast.Expr {
	if e == nil {
		return &ast.BadExpr{}
	}
	return e
}

// Publishes reports whether this use of a local may hand its object on:
// anything but selecting a field of it, or comparing it.
func (file *File) Publishes(id *ast.Ident) bool {
	var e ast.Node = id
	for {
		switch p := file.Parents[e].(type) {
		case *ast.ParenExpr:
			e = p
			continue
		case *ast.SelectorExpr:
			// x.f is no use of x, x.method() is one; &x.f leads to x
			sel := file.Package.Info.Selections[p]
			if sel == nil || sel.Kind() != types.FieldVal {
				return true
			}
			if !IsPointer(file.TypeOf(p)) {
				if _, ok := file.TypeOf(p).Underlying().(*types.Struct); ok {
					e = p
					continue
				}
			}
			unary, ok := file.Parents[p].(*ast.UnaryExpr)
			return ok && unary.Op == token.AND
		// x == nil
		case *ast.BinaryExpr:
			return false
		case *ast.UnaryExpr:
			return p.Op == token.AND
		case *ast.AssignStmt:
			// x = v replaces it, y = x hands it on
			for _, lhs := range p.Lhs {
				if lhs == e {
					return false
				}
			}
			return IsPointer(file.TypeOf(id))
		case *ast.ReturnStmt, *ast.CallExpr:
			return IsPointer(file.TypeOf(id))
		default:
			return IsPointer(file.TypeOf(id))
		}
	}
}
