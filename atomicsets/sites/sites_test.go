package sites_test

import (
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/interlock-go/interlock/atomicsets/plan"
	"github.com/interlock-go/interlock/atomicsets/sites"
)

// fset and library are shared by all tests, so that each package of the standard library
// is typed once.
var (
	fset    = token.NewFileSet()
	library = importer.ForCompiler(fset, "source", nil)
)

// typed returns the files of one package, contents by name, with their types.
func typed(t *testing.T, goVersion string, srcs map[string]string) *sites.Package {
	t.Helper()
	info := &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{},
		Selections: map[*ast.SelectorExpr]*types.Selection{}, Implicits: map[ast.Node]types.Object{},
		FileVersions: map[*ast.File]string{},
	}
	p := &sites.Package{Path: "m/p", Root: "/m", Fset: fset, Info: info, Src: map[string][]byte{}}
	for _, name := range slices.Sorted(maps.Keys(srcs)) {
		f, err := parser.ParseFile(p.Fset, "/m/"+name, srcs[name], parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		p.Files = append(p.Files, f)
		p.Src["/m/"+name] = []byte(srcs[name])
	}
	conf := types.Config{Importer: library, GoVersion: goVersion, FakeImportC: true}
	var err error
	if p.Types, err = conf.Check(p.Path, p.Fset, p.Files, info); err != nil {
		t.Fatal(err)
	}
	return p
}

// TestEnumerate compares the sites of testdata with the `// want` comments of
// its lines: mode, expression and variable of each site that starts there, in
// order.
func TestEnumerate(t *testing.T) {
	files, err := filepath.Glob("testdata/*.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("no test files: %v", err)
	}
	srcs := map[string]string{}
	for _, name := range files {
		src, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		srcs[filepath.Base(name)] = string(src)
	}
	got := map[string]string{}
	seen := map[plan.Key]bool{}
	for _, a := range sites.Enumerate(typed(t, "go1.26", srcs)) {
		s := a.Site
		got[fmt.Sprint(s.File, ":", s.Line)] += fmt.Sprintf("; %s %s %s", s.Mode, s.Expr, describe(s))
		if seen[s.Key()] {
			t.Errorf("%s:%d: two sites have key %+v", s.File, s.Line, s.Key())
		}
		seen[s.Key()] = true
	}
	for name, src := range srcs {
		for i, text := range strings.Split(src, "\n") {
			place := fmt.Sprint(name, ":", i+1)
			_, want, _ := strings.Cut(text, "// want ")
			if g := strings.TrimPrefix(got[place], "; "); g != want {
				t.Errorf("%s: %s\n got %s\nwant %s", place, strings.TrimSpace(text), g, want)
			}
		}
	}
}

func describe(s plan.Site) string {
	v := s.Variable
	text := v.Kind + ":" + strings.TrimPrefix(strings.Join([]string{v.Type, v.Function, v.Name}, "."), ".")
	text = strings.ReplaceAll(text, "..", ".")
	text = strings.ReplaceAll(text, ":.", ":")
	if s.Function != "f" {
		text += " in " + s.Function
	}
	if s.Decision == plan.Skip {
		text += " skip"
	}
	return text
}
