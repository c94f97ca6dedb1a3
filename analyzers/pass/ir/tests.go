package ir

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/analysis"
)

// IsTestFile reports whether the go command takes a file of this name for tests.
func IsTestFile(name string) bool { return strings.HasSuffix(name, "_test.go") }

// testingFiles returns the test files of the package that test other code: they
// use something of another file that is no test, of another package of the
// module, or of a test file that does.
func testingFiles(pass *analysis.Pass) map[*token.File]bool {
	testing, tests := map[*token.File]bool{}, map[*token.File]*ast.File{}
	for _, f := range pass.Files {
		if file := pass.Fset.File(f.FileStart); IsTestFile(file.Name()) {
			tests[file] = f
		}
	}
	uses := map[*token.File][]*token.File{} // by file, the test files that it uses
	for file, f := range tests {
		ast.Inspect(f, func(n ast.Node) bool {
			id, ok := n.(*ast.Ident)
			if !ok || pass.TypesInfo.Uses[id] == nil || pass.TypesInfo.Uses[id].Pkg() == nil {
				return true
			}
			switch obj := pass.TypesInfo.Uses[id]; {
			case obj.Pkg() != pass.Pkg:
				testing[file] = testing[file] || sameModule(pass, obj.Pkg())
			case !obj.Pos().IsValid(): // a package name, a builtin
			case tests[pass.Fset.File(obj.Pos())] != nil:
				uses[file] = append(uses[file], pass.Fset.File(obj.Pos()))
			default:
				testing[file] = true
			}
			return true
		})
	}
	for changed := true; changed; {
		changed = false
		for file, others := range uses {
			for _, other := range others {
				if testing[other] && !testing[file] {
					testing[file], changed = true, true
				}
			}
		}
	}
	return testing
}

// sameModule reports whether pkg belongs to the module of the pass, or is the package
// that it tests from outside.
func sameModule(pass *analysis.Pass, pkg *types.Package) bool {
	own := strings.TrimSuffix(pass.Pkg.Path(), "_test")
	if m := pass.Module; m != nil && m.Path != "" {
		return pkg.Path() == m.Path || strings.HasPrefix(pkg.Path(), m.Path+"/") || pkg.Path() == own
	}
	return pkg.Path() == own
}
