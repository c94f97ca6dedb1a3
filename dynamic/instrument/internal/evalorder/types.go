package evalorder

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/interlock-go/interlock/atomicsets/sites"
	"github.com/interlock-go/interlock/dynamic/instrument/internal/source"
)

// sizes are those of gc on 64-bit machines. They only decide which operands
// gc copies; on 32-bit machines a few more are moved than need be.
var sizes = types.SizesFor("gc", "amd64")

// dependsOnTypeParam reports whether the memory layout of t may depend on a
// type parameter. It errs on the side of yes for generic types.
func dependsOnTypeParam(t types.Type) bool {
	switch t := types.Unalias(t).(type) {
	case *types.TypeParam:
		return true
	case *types.Named:
		for a := range t.TypeArgs().Types() {
			if dependsOnTypeParam(a) {
				return true
			}
		}
		_, isStruct := t.Underlying().(*types.Struct)
		if isStruct && t.TypeArgs().Len() == 0 && isLocal(t.Obj()) {
			return dependsOnTypeParam(t.Underlying()) // the function may be generic
		}
	case *types.Struct:
		for f := range t.Fields() {
			if dependsOnTypeParam(f.Type()) {
				return true
			}
		}
	case *types.Array:
		return dependsOnTypeParam(t.Elem())
	case *types.Map:
		return dependsOnTypeParam(t.Key()) || dependsOnTypeParam(t.Elem())
	}
	return false
}

// isDirectIface reports whether an interface holds a t in its data word.
func isDirectIface(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Pointer, *types.Chan, *types.Map, *types.Signature:
		return true
	case *types.Basic:
		return u.Kind() == types.UnsafePointer
	case *types.Struct:
		return u.NumFields() == 1 && isDirectIface(u.Field(0).Type())
	case *types.Array:
		return u.Len() == 1 && isDirectIface(u.Elem())
	}
	return false
}

// convertedByValue reports whether the runtime takes a t by value to make an
// interface of it (convT16, convT32, convT64, convTstring, convTslice).
func convertedByValue(t types.Type) bool {
	size, align := sizes.Sizeof(t), sizes.Alignof(t)
	if size == align && (size == 2 || size == 4 || size == 8) {
		return true
	}
	switch u := soleComponent(t).Underlying().(type) {
	case *types.Slice:
		return true
	case *types.Basic:
		return u.Info()&types.IsString != 0
	}
	return false
}

// soleComponent unwraps structs and arrays of one element.
func soleComponent(t types.Type) types.Type {
	switch u := t.Underlying().(type) {
	case *types.Struct:
		if u.NumFields() == 1 {
			return soleComponent(u.Field(0).Type())
		}
	case *types.Array:
		if u.Len() == 1 {
			return soleComponent(u.Elem())
		}
	}
	return t
}

// paramType returns the type of the i-th argument's parameter, or nil.
func paramType(sig *types.Signature, i int, ellipsis bool) types.Type {
	if sig == nil {
		return nil
	}
	last := sig.Params().Len() - 1
	if !sig.Variadic() || i < last {
		if i > last {
			return nil
		}
		return sig.Params().At(i).Type()
	}
	t := sig.Params().At(last).Type()
	if s, ok := source.Under(t).(*types.Slice); ok && !ellipsis {
		return s.Elem()
	}
	return t
}

// appended returns the type of the elements that e, a call of append, appends,
// or nil.
func appended(info *types.Info, name string, e *ast.CallExpr) types.Type {
	if s, ok := source.Under(info.TypeOf(e)).(*types.Slice); ok && name == "append" && !e.Ellipsis.IsValid() {
		return s.Elem()
	}
	return nil
}

// elementType returns the type of an element of a composite literal of type t.
func elementType(info *types.Info, t types.Type, key ast.Expr, i int) types.Type {
	switch t := t.(type) {
	case *types.Slice:
		return t.Elem()
	case *types.Array:
		return t.Elem()
	case *types.Struct:
		if id, ok := key.(*ast.Ident); ok {
			return info.ObjectOf(id).Type()
		}
		return t.Field(i).Type()
	}
	return nil
}

// MayPanic reports whether evaluating e can panic, calls aside.
func MayPanic(info *types.Info, e ast.Expr) bool {
	found := false
	ast.Inspect(e, func(n ast.Node) bool {
		if x, ok := n.(ast.Expr); ok && (info.Types[x].Value != nil || info.Types[x].IsType()) {
			return false
		}
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.IndexExpr, *ast.SliceExpr, *ast.StarExpr, *ast.TypeAssertExpr:
			found = true
		case *ast.SelectorExpr:
			sel := info.Selections[n]
			found = found || sel != nil && sel.Indirect()
		case *ast.BinaryExpr:
			found = found || operatorMayPanic(info, n)
		case *ast.CallExpr:
			b := sites.Builtin(info, n.Fun)
			toArray := info.Types[n.Fun].IsType() && source.IsSlice(info.TypeOf(n.Args[0])) && !source.IsString(info.TypeOf(n))
			found = found || b == "make" || b == "Slice" || b == "String" || toArray
		}
		return !found
	})
	return found
}

// isLocal reports whether the type is declared in a function.
func isLocal(t *types.TypeName) bool {
	return t.Parent() != nil && t.Pkg() != nil && t.Parent() != t.Pkg().Scope()
}

func operatorMayPanic(info *types.Info, e *ast.BinaryExpr) bool {
	switch e.Op {
	case token.QUO, token.REM:
		return info.Types[e.Y].Value == nil
	case token.SHL, token.SHR:
		b, ok := source.Under(info.TypeOf(e.Y)).(*types.Basic)
		return info.Types[e.Y].Value == nil && (!ok || b.Info()&types.IsUnsigned == 0)
	case token.EQL, token.NEQ:
		nilOperand := info.Types[e.X].IsNil() || info.Types[e.Y].IsNil()
		return !nilOperand && (MayHoldInterface(info.TypeOf(e.X)) || MayHoldInterface(info.TypeOf(e.Y)))
	}
	return false
}

// MayHoldInterface reports whether comparing values of t may compare dynamic
// types, some of which cannot be compared.
func MayHoldInterface(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Interface:
		return true
	case *types.Struct:
		for f := range u.Fields() {
			if MayHoldInterface(f.Type()) {
				return true
			}
		}
	case *types.Array:
		return MayHoldInterface(u.Elem())
	}
	return false
}
