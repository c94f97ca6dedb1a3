package finding_test

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"testing"

	"github.com/interlock-go/interlock/analyzers/finding"
)

func TestTypeName(t *testing.T) {
	const src = `package p

type box struct{}

func (box) put() { type inner struct{} }

func f() {
	type box struct{}
	func() { type closed struct{} }()
}

func g() { type box struct{} }

func init() { type early struct{} }

var _ = func() int { type initial struct{}; return 0 }()
`
	want := []string{"box", "box.put.inner", "f.box", "f.closed", "g.box", "early", "initial"}

	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "p.go", src, 0)
	if err != nil {
		t.Fatal(err)
	}
	info := &types.Info{Defs: map[*ast.Ident]types.Object{}}
	if _, err := (&types.Config{Importer: importer.Default()}).Check("p", fset, []*ast.File{file}, info); err != nil {
		t.Fatal(err)
	}

	var got []string
	ast.Inspect(file, func(n ast.Node) bool {
		if spec, ok := n.(*ast.TypeSpec); ok {
			got = append(got, finding.TypeName(info.Defs[spec.Name].(*types.TypeName)))
		}
		return true
	})
	for i, name := range want {
		if i >= len(got) || got[i] != name {
			t.Fatalf("types are named %v, want %v", got, want)
		}
	}
}
