package house

import (
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dominikbraun/graph"
	"golang.org/x/tools/go/packages"
)

// Circle is a list of files of one package each of which uses, by way of others, all the others. None can be read
// without the rest.
type Circle struct {
	Package string
	Files   []string // sorted
}

// String returns the package and its files.
func (c Circle) String() string { return c.Package + ": " + strings.Join(c.Files, " ") }

// Circles returns the circles of files in the packages that the patterns name, relative to the folder root. A file
// uses another one if it names a function, method, type, variable or constant of the package that is declared there.
// Test files do not count. A package that does not compile is an error.
func Circles(root string, patterns ...string) (all []Circle, err error) {
	pkgs, err := packages.Load(&packages.Config{Mode: packages.LoadSyntax, Dir: root}, patterns...)
	if err != nil {
		return nil, err
	}
	for _, pkg := range pkgs {
		for _, e := range pkg.Errors {
			err = errors.Join(err, e)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", pkg.PkgPath, err)
		}
		groups, err := graph.StronglyConnectedComponents(uses(pkg))
		if err != nil {
			return nil, err
		}
		for _, files := range groups {
			if slices.Sort(files); len(files) > 1 {
				all = append(all, Circle{strings.TrimPrefix(pkg.PkgPath, Module+"/"), files})
			}
		}
	}
	slices.SortFunc(all, func(a, b Circle) int { return strings.Compare(a.String(), b.String()) })
	return all, nil
}

// uses returns the graph of the files of a package: an edge leads from a file to one that it uses.
func uses(pkg *packages.Package) graph.Graph[string, string] {
	files := graph.New(graph.StringHash, graph.Directed())
	fileOf := func(at interface{ Pos() token.Pos }) string {
		return filepath.Base(pkg.Fset.Position(at.Pos()).Filename)
	}
	for _, f := range pkg.Syntax {
		_ = files.AddVertex(fileOf(f))
	}
	for _, f := range pkg.Syntax {
		ast.Inspect(f, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok && isOfPackage(pkg.TypesInfo.Uses[id], pkg.Types) {
				if from, to := fileOf(f), fileOf(pkg.TypesInfo.Uses[id]); from != to {
					_ = files.AddEdge(from, to) // an error says that it is there
				}
			}
			return true
		})
	}
	return files
}

// isOfPackage reports whether o is declared at the top level of the package, or is a method of one of its types.
func isOfPackage(o types.Object, pkg *types.Package) bool {
	if o == nil || o.Pkg() != pkg {
		return false
	}
	f, isFunc := o.(*types.Func)
	return o.Parent() == pkg.Scope() || isFunc && f.Signature().Recv() != nil
}
