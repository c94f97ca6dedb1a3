package evalorder

import (
	"go/ast"
	"go/token"
	"go/types"
)

// ConversionOf returns the type that x must be converted to so that a variable
// defined by it has the type that x has where it stands; empty if it has it
// without. It reports false if that type cannot be written there.
func (o *Orderer) ConversionOf(x ast.Expr) (string, bool) {
	t := o.Info.TypeOf(x)
	switch {
	case t == nil:
		return "", false
	case !o.takesType(x), t == types.Typ[types.Bool], t == types.Typ[types.UntypedBool], t == types.Typ[types.Int]:
		return "", true
	}
	return o.typeName(t, x.Pos())
}

// takesType reports whether the type of x depends on where x stands:
// comparisons, shifts of untyped constants, and expressions of these.
func (o *Orderer) takesType(x ast.Expr) bool {
	switch x := x.(type) {
	case *ast.ParenExpr:
		return o.takesType(x.X)
	case *ast.UnaryExpr:
		return x.Op != token.AND && x.Op != token.ARROW && o.takesType(x.X)
	case *ast.BinaryExpr:
		switch x.Op {
		case token.EQL, token.NEQ, token.LSS, token.LEQ, token.GTR, token.GEQ:
			return true
		case token.SHL, token.SHR:
			return o.Info.Types[x.X].Value != nil || o.takesType(x.X)
		}
		return o.takesType(x.X) || o.takesType(x.Y)
	}
	return false
}

// Means reports whether name denotes obj at pos.
func (o *Orderer) Means(name string, obj types.Object, pos token.Pos) bool {
	scope := o.Pkg.Types.Scope().Innermost(pos)
	if scope == nil {
		return false
	}
	_, found := scope.LookupParent(name, pos)
	return found == obj
}

// typeName writes t as source at pos, if it has a name that means t there.
func (o *Orderer) typeName(t types.Type, pos token.Pos) (string, bool) {
	means := func(name string, obj types.Object) bool { return o.Means(name, obj, pos) }
	var obj *types.TypeName
	switch t := t.(type) {
	case *types.Basic:
		return t.Name(), t.Info()&types.IsUntyped == 0 && means(t.Name(), types.Universe.Lookup(t.Name()))
	case *types.Named:
		if t.TypeArgs().Len() > 0 {
			return "", false
		}
		obj = t.Obj()
	case *types.Alias:
		if t.TypeArgs().Len() > 0 {
			return "", false
		}
		obj = t.Obj()
	case *types.TypeParam:
		obj = t.Obj()
	default:
		return "", false
	}
	if obj.Pkg() == o.Pkg.Types {
		return obj.Name(), means(obj.Name(), obj)
	}
	// A type of another package needs an import of that package in this file.
	for _, spec := range o.Syntax.Imports {
		imported, _ := o.Info.Implicits[spec].(*types.PkgName)
		if spec.Name != nil {
			imported, _ = o.Info.Defs[spec.Name].(*types.PkgName)
		}
		if imported != nil && imported.Imported() == obj.Pkg() && means(imported.Name(), imported) {
			return imported.Name() + "." + obj.Name(), true
		}
	}
	return "", false
}
