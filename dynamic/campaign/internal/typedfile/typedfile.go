// Package typedfile type-checks the source in a test.
package typedfile

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"sync"
	"testing"

	"github.com/interlock-go/interlock/atomicsets/sites"
)

// library type-checks a package of the standard library once for all tests of a process, which takes seconds. It may be
// asked by one test at a time, and needs the file set of those that import from it.
var (
	mu      sync.Mutex
	fset    = token.NewFileSet()
	library = importer.ForCompiler(fset, "source", nil)
)

// Parse type-checks the file m.go of package m.
func Parse(t testing.TB, source string) *sites.Package {
	t.Helper()
	p := &sites.Package{Path: "m", Root: "/m", Fset: fset, Info: &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{},
		Defs: map[*ast.Ident]types.Object{}, Selections: map[*ast.SelectorExpr]*types.Selection{},
	}}
	f, err := parser.ParseFile(p.Fset, "/m/m.go", source, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	conf := types.Config{Importer: library}
	mu.Lock()
	defer mu.Unlock()
	if p.Types, err = conf.Check("m", p.Fset, []*ast.File{f}, p.Info); err != nil {
		t.Fatal(err)
	}
	p.Files = []*ast.File{f}
	return p
}
