package source

import (
	"go/ast"
	"go/token"
	"go/types"
)

// Private reports whether no other goroutine can reach the accessed memory:
// it belongs to a struct value of the function's own, or to an object that
// the function has made and not yet handed to anybody (ownership, RacerD).
// Wrong only towards false.
func (a *Access) Private() bool {
	if a.Mode == Initial || a.Function == nil {
		return true
	}
	if a.Base == nil {
		return false
	}
	root, viaPointer := a.File.RootOf(a.Base)
	if root == nil || IsGlobal(root) || a.File.Module.Declaring(a.File, root) != a.Function {
		return false
	}
	if viaPointer {
		return false // x.p.f: x may be fresh, what p points to need not be
	}
	if IsPointer(root.Type()) && !a.File.Allocated(root) {
		return false
	}
	return !a.File.escapesBefore(root, a.Expr, a.Function)
}

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

// escapesBefore reports whether obj is used other than by selecting fields
// before the node, or in a loop around the node that does not hold obj's
// definition.
func (file *File) escapesBefore(obj types.Object, n ast.Node, f *Function) bool {
	loop := file.outerLoop(n, obj, f)
	escapes := false
	ast.Inspect(f.Body, func(x ast.Node) bool {
		id, ok := x.(*ast.Ident)
		if !ok || file.Package.Info.Uses[id] != obj || escapes {
			return true
		}
		early := id.Pos() < n.Pos() || loop != nil && id.Pos() < loop.End()
		escapes = early && (file.FunctionOf(id) != f || file.Publishes(id))
		return true
	})
	return escapes
}

// outerLoop is the outermost loop around n, within f, that does not hold the
// definition of obj.
func (file *File) outerLoop(n ast.Node, obj types.Object, f *Function) (loop ast.Node) {
	for p := file.Parents[n]; p != nil && p != f.Node; p = file.Parents[p] {
		switch p.(type) {
		case *ast.ForStmt, *ast.RangeStmt:
			if obj.Pos() < p.Pos() {
				loop = p
			}
		}
	}
	return loop
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
			return IsPointer(file.TypeOf(id))
		case *ast.ReturnStmt, *ast.CallExpr:
			return IsPointer(file.TypeOf(id))
		default:
			return IsPointer(file.TypeOf(id))
		}
	}
}
