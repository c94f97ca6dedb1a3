package accesspath

import (
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
)

// Name names a field or package variable the same in every instance: the
// package and the named type (its generic origin) that declare it, and the
// field, as "a.b" where the struct in between has no name of its own.
type Name struct{ Package, Type, Field string }

// String returns pkg.Type.field.
func (n Name) String() string {
	s := n.Package
	if n.Type != "" {
		s += "." + n.Type
	}
	return s + "." + n.Field
}

// Short returns Type.field, or the name of a package variable.
func (n Name) Short() string {
	if n.Type == "" {
		return n.Field
	}
	return n.Type + "." + n.Field
}

// NameOf names the location that addr points to, or from which addr was
// loaded; ok is false for one that is neither field nor package variable.
// Elements of arrays have the name of the array.
func NameOf(addr ssa.Value) (name Name, ok bool) {
	switch v := addr.(type) {
	case *ssa.Global:
		return Name{Package: v.Pkg.Pkg.Path(), Field: v.Name()}, true
	case *ssa.IndexAddr:
		if _, isArray := ir.Pointee(v.X.Type()).Underlying().(*types.Array); isArray {
			return NameOf(v.X)
		}
	case *ssa.UnOp:
		if v.Op == token.MUL {
			return NameOf(v.X)
		}
	case *ssa.FieldAddr:
		return fieldName(v)
	}
	return Name{}, false
}

func fieldName(v *ssa.FieldAddr) (Name, bool) {
	field := FieldOf(v)
	if named, ok := types.Unalias(ir.Pointee(v.X.Type())).(*types.Named); ok {
		obj := named.Origin().Obj()
		if obj.Pkg() == nil {
			return Name{}, false
		}
		return Name{obj.Pkg().Path(), finding.TypeName(obj), field.Name()}, true
	}
	if outer, ok := NameOf(v.X); ok { // a struct without a name within another
		outer.Field += "." + field.Name()
		return outer, true
	}
	return Name{}, false
}
