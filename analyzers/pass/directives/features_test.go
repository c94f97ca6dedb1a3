package directives_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/internal/passtest"
	"github.com/interlock-go/interlock/analyzers/pass/directives"
)

// Each declaration of features has a directive in another place.
func TestFeatures(t *testing.T) {
	passtest.Run(t, directives.Analyzer, guardsAt, "features")
}

// guardsAt lists the guards of the variables that the line declares.
func guardsAt(l *passtest.Line) string {
	var parts []string
	for v, lock := range passtest.Result[*directives.Set](l, directives.Analyzer).Guards() {
		if l.Has(v.Pos()) {
			parts = append(parts, v.Name()+" by "+lock)
		}
	}
	slices.Sort(parts)
	if len(parts) == 0 {
		return "none"
	}
	return strings.Join(parts, ", ")
}

// What makes no sense is a problem, and so is what suppresses nothing.
func TestProblems(t *testing.T) {
	for _, r := range analysistest.Run(t, analysistest.TestData(), directives.Analyzer, "problems") {
		var got []string
		set := r.Result.(*directives.Set)
		for _, p := range append(set.Problems(), set.Unused(finding.Unguarded)...) {
			got = append(got, p.Message)
		}
		want := []string{
			`interlock:ignore of unknown code "IL9999": write //interlock:ignore CODE why`,
			"interlock:ignore IL1001 without a reason: say why after the code",
			"nolint:interlock without a reason: write //nolint:interlock // why",
			`lint:ignore of unknown code "IL1": write //lint:ignore CODE why`,
			"unknown directive interlock:ignor: want interlock:ignore, interlock:guardedby or interlock:atomic",
			"guardedby without a lock: name the variable that guards this one",
			"guardedby without a lock: name the field that guards this one",
		}
		if n := len(want); len(got) != n+1 || !slices.Equal(got[:n], want) || !strings.Contains(got[n], "IL1001") {
			t.Errorf("problems %q, want %q and one that is not used", got, want)
		}
	}
}

func FuzzParseIgnore(f *testing.F) {
	f.Add("//interlock:ignore IL1001,IL2002 why")
	f.Add("//nolint:errcheck,interlock // why")
	f.Add("//lint:ignore IL1001 why")
	f.Add("//interlock:ignore")
	f.Fuzz(func(t *testing.T, comment string) {
		ig, err := directives.ParseIgnore(comment)
		if err == nil && ig != nil && strings.TrimSpace(ig.Reason) == "" {
			t.Errorf("%q is accepted without a reason", comment)
		}
	})
}

// FuzzSource has any text as a comment of a source file: what makes no sense there has a line and a column.
func FuzzSource(f *testing.F) {
	for _, text := range []string{"interlock:guardedby mu why", "interlock:guardedby", " +checklocks:mu.x",
		"nolint:interlock", "interlock:ignore IL1001 why\n\n//lint:ignore IL2001 why", "interlock:ignor x", "\x00\xff"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		source := "package p\n\n//" + text + "\nvar v int\n\ntype T struct {\n\tmu struct{ x int }\n\tn  int //" + text +
			"\n}\n"
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, "p.go", source, parser.ParseComments)
		if err != nil {
			return
		}
		info := &types.Info{Defs: map[*ast.Ident]types.Object{}, Types: map[ast.Expr]types.TypeAndValue{}}
		pkg, err := (&types.Config{Error: func(error) {}}).Check("p", fset, []*ast.File{file}, info)
		if err != nil {
			return
		}
		result, err := directives.Analyzer.Run(&analysis.Pass{Fset: fset, Files: []*ast.File{file}, Pkg: pkg,
			TypesInfo: info})
		if err != nil {
			t.Fatal(err)
		}
		set := result.(*directives.Set)
		for _, p := range append(set.Problems(), set.Unused(finding.Codes()...)...) {
			if at := fset.Position(p.Pos); at.Line < 1 || at.Column < 1 || p.Message == "" {
				t.Errorf("%q: a problem without a place: %v: %s", text, at, p.Message)
			}
		}
	})
}
