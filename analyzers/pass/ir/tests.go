package ir

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

// IsTestFile reports whether the go command takes a file of this name for tests.
func IsTestFile(name string) bool { return strings.HasSuffix(name, "_test.go") }

// Unit is a type-checked package with the path of its module, "" where that is not known.
type Unit struct {
	Fset   *token.FileSet
	Files  []*ast.File
	Pkg    *types.Package
	Info   *types.Info
	Module string
}

// TestingFiles returns the test files of the package that test other code: they
// use something of another file that is no test, of another package of the
// module, or of a test file that does. The other test files are programs of their own.
func TestingFiles(u Unit) map[*token.File]bool {
	testing, tests := map[*token.File]bool{}, map[*token.File]*ast.File{}
	for _, f := range u.Files {
		if file := u.Fset.File(f.FileStart); IsTestFile(file.Name()) {
			tests[file] = f
		}
	}
	uses := map[*token.File][]*token.File{} // by file, the test files that it uses
	for file, f := range tests {
		ast.Inspect(f, func(n ast.Node) bool {
			id, ok := n.(*ast.Ident)
			if !ok || u.Info.Uses[id] == nil || u.Info.Uses[id].Pkg() == nil {
				return true
			}
			switch obj := u.Info.Uses[id]; {
			case obj.Pkg() != u.Pkg:
				testing[file] = testing[file] || u.sameModule(obj.Pkg())
			case !obj.Pos().IsValid(): // a package name, a builtin
			case tests[u.Fset.File(obj.Pos())] != nil:
				uses[file] = append(uses[file], u.Fset.File(obj.Pos()))
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

// sameModule reports whether pkg belongs to the module of the unit, or is the package
// that it tests from outside.
func (u Unit) sameModule(pkg *types.Package) bool {
	own := strings.TrimSuffix(u.Pkg.Path(), "_test")
	if u.Module != "" {
		return pkg.Path() == u.Module || strings.HasPrefix(pkg.Path(), u.Module+"/") || pkg.Path() == own
	}
	return pkg.Path() == own
}
