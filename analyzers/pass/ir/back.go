package ir

import (
	"cmp"
	"go/token"

	"golang.org/x/tools/go/ssa"
)

// Step is a way in which a value leads back to another one without being computed from it.
type Step uint

// The steps; each pass follows those that keep the property it is about.
const (
	Field     Step = 1 << iota // &x.f
	Element                    // &x[i]
	Piece                      // x[i:j]
	Copied                     // x.f and x[i], of a struct or an array that is no variable
	Retyped                    // x as a type with the same values
	Converted                  // x as any other type
	Boxed                      // x as an interface
	Asserted                   // x.(T)
	Loaded                     // *x
)

// Back returns the value that v leads back to by one of the steps; nil if there is none.
func Back(v ssa.Value, steps Step) ssa.Value {
	if from, step := stepBack(v); step&steps != 0 {
		return from
	}
	return nil
}

// Root follows v back as far as the steps lead.
func Root(v ssa.Value, steps Step) ssa.Value {
	for from := v; from != nil; from = Back(v, steps) {
		v = from
	}
	return v
}

// Address returns the address that v was loaded from, or v.
func Address(v ssa.Value) ssa.Value { return cmp.Or(Back(v, Loaded), v) }

func stepBack(v ssa.Value) (from ssa.Value, step Step) {
	switch v := v.(type) {
	case *ssa.FieldAddr:
		return v.X, Field
	case *ssa.IndexAddr:
		return v.X, Element
	case *ssa.Slice:
		return v.X, Piece
	case *ssa.Field:
		return v.X, Copied
	case *ssa.Index:
		return v.X, Copied
	case *ssa.ChangeType:
		return v.X, Retyped
	case *ssa.Convert:
		return v.X, Converted
	case *ssa.MakeInterface:
		return v.X, Boxed
	case *ssa.ChangeInterface:
		return v.X, Boxed
	case *ssa.TypeAssert:
		return v.X, Asserted
	case *ssa.UnOp:
		if v.Op == token.MUL {
			return v.X, Loaded
		}
	}
	return nil, 0
}
