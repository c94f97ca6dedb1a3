package plan

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

// elements records an access to all elements of e, if e is a slice of which
// somebody else may hold elements.
func (w *walker) elements(e ast.Expr, mode Mode, deferred bool) *Access {
	e = ast.Unparen(e)
	s, ok := under(w.info.TypeOf(e)).(*types.Slice)
	if !ok || isZeroSize(s.Elem()) || w.ownSlice(e) {
		return nil
	}
	a := w.record(e, e, mode, w.element(e))
	a.Site.Behind, a.Deferred = true, deferred
	return a
}

// copiesElements reports whether the conversion of a slice to t does.
func copiesElements(t types.Type) bool {
	switch u := under(t).(type) {
	case *types.Basic:
		return u.Info()&types.IsString != 0
	case *types.Array:
		return true
	}
	return false
}

// pointee records an access to what the pointer e points to.
func (w *walker) pointee(e ast.Expr, mode Mode, deferred bool) {
	e = ast.Unparen(e)
	p, ok := under(w.info.TypeOf(e)).(*types.Pointer)
	if !ok || isZeroSize(p.Elem()) {
		return
	}
	a := w.record(e, e, mode, w.deref(e))
	a.Site.Behind, a.Deferred = true, deferred
	a.Site.Expr = "*" + a.Site.Expr
}

// atomic records the access that the call e of sync/atomic makes.
func (w *walker) atomic(e *ast.CallExpr, deferred bool) {
	fun, ok := ast.Unparen(e.Fun).(*ast.SelectorExpr)
	if !ok {
		return
	}
	fn, ok := w.info.Uses[fun.Sel].(*types.Func)
	if !ok || fn.Pkg() == nil || fn.Pkg().Path() != "sync/atomic" {
		return
	}
	mode := AtomicWrite
	if strings.HasPrefix(fn.Name(), "Load") {
		mode = AtomicRead
	}
	sel := w.info.Selections[fun]
	switch {
	case sel == nil && len(e.Args) > 0:
		if addr, ok := ast.Unparen(e.Args[0]).(*ast.UnaryExpr); ok && addr.Op == token.AND {
			w.atomicPlace(addr.X, mode, deferred)
		} else {
			w.pointee(e.Args[0], mode, deferred)
		}
	case sel == nil || sel.Kind() != types.MethodVal || len(sel.Index()) > 1:
	case isPointer(sel.Recv()):
		w.pointee(fun.X, mode, deferred)
	default:
		w.atomicPlace(fun.X, mode, deferred)
	}
}

func (w *walker) atomicPlace(e ast.Expr, mode Mode, deferred bool) {
	e = ast.Unparen(e)
	if w.info.Types[e].Addressable() && w.sharedPlace(e) {
		w.record(e, e, mode, w.variable(e)).Deferred = deferred
	}
}
