package inprocess

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"reflect"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/analysis"
)

// note is a fact; what is unexported in it stays with its own package.
type note struct {
	Text   string
	Parts  map[string][]string
	Where  string
	secret *note
}

func (*note) AFact() {}

// low is a package of which [notes] notes each function, and high one that asks for it.
const (
	low  = "package low\n\nfunc F() {}\n\nfunc hidden() {}\n"
	high = "package high\n\nimport \"low\"\n\nfunc G() { low.F() }\n"
)

var notes = &analysis.Analyzer{
	Name: "notes", Doc: "note functions", FactTypes: []analysis.Fact{new(note)},
	Run: func(pass *analysis.Pass) (any, error) {
		var seen []string
		for _, obj := range pass.TypesInfo.Uses {
			var n note
			if fn, ok := obj.(*types.Func); ok && pass.ImportObjectFact(fn, &n) {
				seen = append(seen, n.Text)
				if n.secret != nil {
					seen = append(seen, "secret")
				}
			}
		}
		for _, f := range pass.AllObjectFacts() {
			seen = append(seen, "all: "+f.Object.Name())
		}
		for _, obj := range pass.TypesInfo.Defs {
			if fn, ok := obj.(*types.Func); ok {
				pass.ExportObjectFact(fn, &note{Text: "noted " + fn.Name(), secret: new(note),
					Where: pass.Fset.Position(fn.Pos()).String(), Parts: map[string][]string{"a": {fn.Name()}}})
			}
		}
		slices.Sort(seen)
		return seen, nil
	},
}

type imports map[string]*types.Package

func (i imports) Import(path string) (*types.Package, error) { return i[path], nil }

func unit(t *testing.T, path, src string, deps imports, facts map[string]*Facts) *Unit {
	t.Helper()
	u := &Unit{Fset: token.NewFileSet(), Imported: func(path string) *Facts { return facts[path] }}
	f, err := parser.ParseFile(u.Fset, path+".go", src, 0)
	if err != nil {
		t.Fatal(err)
	}
	u.Files = []*ast.File{f}
	u.Info = &types.Info{Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{}}
	if u.Types, err = (&types.Config{Importer: deps}).Check(path, u.Fset, u.Files, u.Info); err != nil {
		t.Fatal(err)
	}
	return u
}

func results(t *testing.T, u *Unit, a *analysis.Analyzer) (any, *Facts) {
	t.Helper()
	all, facts, err := u.Run(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	return all[a], facts
}

// An importer sees the facts of a package that was typed anew since, and no more
// of them than a file would hold.
func TestFactsOutliveTypes(t *testing.T) {
	before := unit(t, "low", low, nil, nil)
	_, first := results(t, before, notes)
	_, second := results(t, unit(t, "low", "\n\n"+low, nil, nil), notes)
	if !first.Same(second) {
		t.Error("a fact that differs in a field Where alone is another one")
	}
	_, third := results(t, unit(t, "low", low+"func H() {}\n", nil, nil), notes)
	if first.Same(third) || first.Same(nil) {
		t.Error("facts of another function are the same")
	}
	seen, _ := results(t, unit(t, "high", high, imports{"low": before.Types}, map[string]*Facts{"low": third}), notes)
	// H is no object of the types that the importer has, and nobody else can name hidden.
	if want := []string{"all: F", "noted F"}; !reflect.DeepEqual(seen, want) {
		t.Errorf("seen %q, want %q", seen, want)
	}
}

// A pass that panics fails the run, which goes on to nothing else.
func TestPanic(t *testing.T) {
	broken := &analysis.Analyzer{Name: "broken", Doc: "panic", Run: func(*analysis.Pass) (any, error) { panic("oh") }}
	after := &analysis.Analyzer{Name: "after", Doc: "run", Requires: []*analysis.Analyzer{broken},
		Run: func(*analysis.Pass) (any, error) { t.Error("it runs"); return nil, nil }}
	_, _, err := unit(t, "low", low, nil, nil).Run(t.Context(), after)
	if want := "analysing low: internal error in broken: oh ("; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("error %v, want %s…", err, want)
	}
}
