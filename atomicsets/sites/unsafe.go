package sites

import (
	"go/ast"
	"go/types"
)

// fromUintptr reports whether e converts an uintptr to an unsafe.Pointer.
func (w *walker) fromUintptr(e *ast.CallExpr) bool {
	return w.converts(e, types.UnsafePointer, types.Uintptr)
}

// toUintptr reports whether an unsafe.Pointer is converted to an uintptr in e.
func (w *walker) toUintptr(e ast.Expr) bool {
	found := false
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.CallExpr:
			found = found || w.converts(n, types.Uintptr, types.UnsafePointer)
		}
		return !found
	})
	return found
}

func (w *walker) converts(e *ast.CallExpr, to, from types.BasicKind) bool {
	is := func(e ast.Expr, kind types.BasicKind) bool {
		b, ok := underlying(w.info.TypeOf(e)).(*types.Basic)
		return ok && b.Kind() == kind
	}
	return len(e.Args) == 1 && w.info.Types[e.Fun].IsType() && is(e.Fun, to) && is(e.Args[0], from)
}
