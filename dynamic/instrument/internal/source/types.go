package source

import (
	"go/ast"
	"go/types"
)

// Under returns the underlying type of t; of a type parameter the one that all
// types of its type set share, or the constraint if they share none.
func Under(t types.Type) types.Type {
	if t == nil {
		return nil
	}
	u := t.Underlying()
	i, ok := u.(*types.Interface)
	if !ok || !IsTypeParam(t) {
		return u
	}
	var core types.Type
	for e := range i.EmbeddedTypes() {
		terms, ok := e.(*types.Union)
		if !ok {
			terms = types.NewUnion([]*types.Term{types.NewTerm(true, e)})
		}
		for term := range terms.Terms() {
			t := Under(term.Type())
			if core != nil && !types.Identical(core, t) {
				return u
			}
			core = t
		}
	}
	if core == nil {
		return u
	}
	return core
}

// IsTypeParam reports whether t is a type parameter.
func IsTypeParam(t types.Type) bool {
	_, ok := types.Unalias(t).(*types.TypeParam)
	return ok
}

// IsSlice reports whether t is a slice type.
func IsSlice(t types.Type) bool {
	_, ok := Under(t).(*types.Slice)
	return ok
}

// IsString reports whether t is a string type.
func IsString(t types.Type) bool {
	b, ok := Under(t).(*types.Basic)
	return ok && b.Info()&types.IsString != 0
}

// IsCall reports whether e is a call or a conversion.
func IsCall(e ast.Expr) bool {
	_, ok := ast.Unparen(e).(*ast.CallExpr)
	return ok
}

// IsBool reports whether t is a boolean type.
func IsBool(t types.Type) bool {
	b, ok := Under(t).(*types.Basic)
	return ok && b.Info()&types.IsBoolean != 0
}

// IsInteger reports whether t is an integer type.
func IsInteger(t types.Type) bool {
	b, ok := Under(t).(*types.Basic)
	return ok && b.Info()&types.IsInteger != 0
}

// IsMap reports whether t is a map type.
func IsMap(t types.Type) bool {
	_, ok := Under(t).(*types.Map)
	return ok
}

// IsBlank reports whether e is the blank identifier.
func IsBlank(e ast.Expr) bool {
	id, ok := ast.Unparen(e).(*ast.Ident)
	return ok && id.Name == "_"
}
