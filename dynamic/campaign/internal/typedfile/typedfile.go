// Package typedfile type-checks the source in a test.
package typedfile

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"testing"

	"github.com/interlock-go/interlock/atomicsets/sites"
)

// Parse type-checks the file m.go of package m.
func Parse(t testing.TB, source string) *sites.Package {
	t.Helper()
	p := &sites.Package{Path: "m", Root: "/m", Fset: token.NewFileSet(), Info: &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{},
		Defs: map[*ast.Ident]types.Object{}, Selections: map[*ast.SelectorExpr]*types.Selection{},
	}}
	f, err := parser.ParseFile(p.Fset, "/m/m.go", source, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	conf := types.Config{Importer: importer.ForCompiler(p.Fset, "source", nil)}
	if p.Types, err = conf.Check("m", p.Fset, []*ast.File{f}, p.Info); err != nil {
		t.Fatal(err)
	}
	p.Files = []*ast.File{f}
	return p
}
