package sites

import (
	"go/ast"
	"go/types"
)

// underlying returns the underlying type of t; of a type parameter the one that all
// types of its type set share, or the constraint if they share none.
func underlying(t types.Type) types.Type {
	if t == nil {
		return nil
	}
	u := t.Underlying()
	if _, ok := types.Unalias(t).(*types.TypeParam); !ok {
		return u
	}
	if core := coreType(u.(*types.Interface)); core != nil {
		return core
	}
	return u
}

// coreType returns the one underlying type of the types in i's type set, or nil.
func coreType(i *types.Interface) types.Type {
	var core types.Type
	for e := range i.EmbeddedTypes() {
		u, ok := e.(*types.Union)
		if !ok {
			u = types.NewUnion([]*types.Term{types.NewTerm(true, e)})
		}
		for term := range u.Terms() {
			t := underlying(term.Type())
			if _, nested := t.(*types.Interface); nested || core != nil && !types.Identical(core, t) {
				return nil
			}
			core = t
		}
	}
	return core
}

func isPointer(t types.Type) bool {
	_, ok := underlying(t).(*types.Pointer)
	return ok
}

func isMapType(t types.Type) bool {
	_, ok := underlying(t).(*types.Map)
	return ok
}

// scalar returns the kind of values of t as a Site has it, or "".
func scalar(t types.Type) string {
	if _, generic := types.Unalias(t).(*types.TypeParam); generic {
		return ""
	}
	switch u := t.Underlying().(type) {
	case *types.Basic:
		if u.Kind() == types.UnsafePointer {
			return "pointer"
		}
		if u.Info()&(types.IsBoolean|types.IsInteger|types.IsFloat) != 0 {
			return types.Typ[u.Kind()].Name()
		}
	case *types.Pointer, *types.Chan:
		return "pointer"
	}
	return ""
}

// isZeroSize reports whether values of t occupy no memory.
func isZeroSize(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Struct:
		for f := range u.Fields() {
			if !isZeroSize(f.Type()) {
				return false
			}
		}
		return true
	case *types.Array:
		return u.Len() == 0 || isZeroSize(u.Elem())
	}
	return false
}

// Builtin returns the name of the builtin that fun denotes, or "". Package
// unsafe's functions are builtins too.
func Builtin(info *types.Info, fun ast.Expr) string {
	var id *ast.Ident
	switch fun := ast.Unparen(fun).(type) {
	case *ast.Ident:
		id = fun
	case *ast.SelectorExpr:
		id = fun.Sel
	default:
		return ""
	}
	if b, ok := info.Uses[id].(*types.Builtin); ok {
		return b.Name()
	}
	return ""
}

// isGenericFunc reports whether e instantiates a generic function.
func isGenericFunc(info *types.Info, e *ast.IndexExpr) bool {
	_, ok := info.TypeOf(e.X).(*types.Signature)
	return ok
}
