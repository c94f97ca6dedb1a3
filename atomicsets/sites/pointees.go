package sites

import (
	"go/ast"
	"go/types"
	"strings"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/atomicsets/plan"
)

// elements records an access to all elements of e, if e is a slice of which
// somebody else may hold elements.
func (w *walker) elements(e ast.Expr, mode plan.Mode, deferred bool) *Access {
	e = ast.Unparen(e)
	s, ok := underlying(w.info.TypeOf(e)).(*types.Slice)
	if !ok || isZeroSize(s.Elem()) || w.ownSlice(e) {
		return nil
	}
	a := w.record(e, e, mode, w.element(e))
	a.Site.Behind, a.Deferred = true, deferred
	return a
}

// copiesElements reports whether the conversion of a slice to t does.
func copiesElements(t types.Type) bool {
	switch u := underlying(t).(type) {
	case *types.Basic:
		return u.Info()&types.IsString != 0
	case *types.Array:
		return true
	}
	return false
}

// pointee records an access to the pointee of e.
func (w *walker) pointee(e ast.Expr, mode plan.Mode, deferred bool) {
	e = ast.Unparen(e)
	p, ok := underlying(w.info.TypeOf(e)).(*types.Pointer)
	if !ok || isZeroSize(p.Elem()) {
		return
	}
	a := w.record(e, e, mode, w.pointeeOf(e))
	a.Site.Behind, a.Deferred = true, deferred
	a.Site.Expr = "*" + a.Site.Expr
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
		if named := namedOf(t); named != nil && read == nil {
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
		t = f.Type()
		if read == nil {
			path = append(path, f.Name())
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
	if read == nil || owner == nil || owner.Obj().Pkg() == nil || !isPointer(sel.Recv()) &&
		!(w.info.Types[e.X].Addressable() && w.sharedPlace(ast.Unparen(e.X))) {
		return
	}
	v := plan.Variable{
		Package: owner.Obj().Pkg().Path(), Type: finding.TypeName(owner.Obj()), Name: strings.Join(path, "."),
		Kind: plan.KindField,
	}
	a := w.record(ast.Unparen(e.X), e, plan.Read, v)
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
