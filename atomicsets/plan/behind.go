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

// bulk records the accesses of a call of copy or append. A call such as
// copy(f()) has no operands to put the monitor at.
func (w *walker) bulk(name string, e *ast.CallExpr, deferred bool) {
	if len(e.Args) < 2 {
		return
	}
	if a := w.elements(e.Args[0], Write, deferred); a != nil {
		a.Append = name == "append"
	}
	if name == "copy" || e.Ellipsis.IsValid() {
		w.elements(e.Args[1], Read, deferred)
	}
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

// embedded records the read of the embedded field through which e, a field or
// method that is promoted, is reached. Fields that are structs are not read but
// for a method that takes its receiver by value. Of several nothing is
// recorded: only one place is left to put the monitor at.
func (w *walker) embedded(e *ast.SelectorExpr, sel *types.Selection) {
	var path, through []string
	var read *types.Var
	t := sel.Recv()
	var owner *types.Named
	index := sel.Index()
	for i, n := range index[:len(index)-1] {
		if named := namedOf(t); named != nil {
			owner, path = named.Origin(), nil
		}
		st := structOf(t)
		if st == nil {
			return
		}
		f := st.Field(n)
		if !f.Exported() && f.Pkg() != w.pkg.Types {
			return // it cannot be named here
		}
		path, t = append(path, f.Name()), f.Type()
		if read == nil {
			through = append(through, f.Name())
		}
		last := i == len(index)-2
		if !isPointer(t) && !(last && readWhole(sel, t)) {
			continue
		}
		if read != nil {
			return
		}
		read = f
	}
	if read == nil || owner == nil || owner.Obj().Pkg() == nil || !isPointer(sel.Recv()) && !(w.info.Types[e.X].Addressable() && w.sharedPlace(ast.Unparen(e.X))) {
		return
	}
	v := Variable{Package: owner.Obj().Pkg().Path(), Type: owner.Obj().Name(), Name: strings.Join(path, "."), Kind: KindField}
	a := w.record(ast.Unparen(e.X), e, Read, v)
	a.Site.Behind, a.Through = true, strings.Join(through, ".")
	a.Site.Expr = types.ExprString(e.X) + "." + a.Through
}

// readWhole reports whether selecting the method sel reads the embedded field
// of type t that has it.
func readWhole(sel *types.Selection, t types.Type) bool {
	if sel.Kind() != types.MethodVal {
		return false
	}
	_, byPointer := types.Unalias(sel.Obj().(*types.Func).Signature().Recv().Type()).(*types.Pointer)
	return !byPointer && !isZeroSize(t)
}
