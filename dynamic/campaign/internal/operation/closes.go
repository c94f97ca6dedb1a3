package operation

import (
	"cmp"
	"go/ast"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/atomicsets/sites"
)

// Closes lists where the source calls close for the channel of the operation: for the same field or package variable,
// in all packages, or for the same variable of a function. The runtime, which ends the process at a closed channel,
// does not say where it was closed.
func (op *Operation) Closes(pkgs []*sites.Package) (places []finding.Position) {
	v := op.Variable("")
	for _, p := range pkgs {
		for _, f := range p.Files {
			ast.Inspect(f, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok || len(call.Args) != 1 || !isClose(p, call) {
					return true
				}
				closed := Operation{p, call, call.Args[0]}
				if v.Kind != "" && closed.Variable("") == v || v.Kind == "" && op.sameLocal(&closed) {
					places = append(places, place(p, call))
				}
				return true
			})
		}
	}
	slices.SortFunc(places, func(a, b finding.Position) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return slices.Compact(places) // a package comes with its tests, and without
}

// isClose reports whether a call is one of the builtin function close.
func isClose(p *sites.Package, call *ast.CallExpr) bool {
	name, ok := call.Fun.(*ast.Ident)
	if !ok {
		return false
	}
	builtin, ok := p.Info.Uses[name].(*types.Builtin)
	return ok && builtin.Name() == "close"
}

// sameLocal reports whether the operands of two operations are one variable of a function. The declaration is compared:
// a package that comes with its tests, and without, has two objects for it.
func (op *Operation) sameLocal(other *Operation) bool {
	a, b := op.declared(), other.declared()
	return a.IsValid() && a == b
}

// declared returns where the operand is declared, if it is a variable.
func (op *Operation) declared() (at token.Position) {
	id, ok := ast.Unparen(op.Operand).(*ast.Ident)
	if !ok {
		return at
	}
	if v, ok := op.In.Info.Uses[id].(*types.Var); ok {
		at = op.In.Fset.PositionFor(v.Pos(), false)
	}
	return at
}

// place returns the place of a node as findings name it.
func place(p *sites.Package, n ast.Node) finding.Position {
	at := p.Fset.PositionFor(n.Pos(), false)
	if rel, err := filepath.Rel(p.Root, at.Filename); err == nil {
		at.Filename = filepath.ToSlash(rel)
	}
	return finding.Position{File: at.Filename, Line: at.Line, Column: at.Column}
}
