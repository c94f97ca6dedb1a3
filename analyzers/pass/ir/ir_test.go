package ir_test

import (
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/interlock-go/interlock/analyzers/pass/ir"
)

// The names are those that runtime.FuncForPC gave for such functions, without
// the package and type arguments.
func TestFuncName(t *testing.T) {
	want := []string{
		"(*T).M", "(*T).M.func1", "(*T).M.func1.1", "(*T).M.func1.2", "(*T).M.func1.2.1", "(*T).M.func2",
		"F", "F.func1", "G.M", "init.0", "init.0.func1", "init.1", "init.func1", "init.func2",
	}
	for _, r := range analysistest.Run(t, analysistest.TestData(), ir.Analyzer, "names") {
		p := r.Result.(*ir.Program)
		var got []string
		for _, fn := range p.Funcs {
			got = append(got, p.FuncName(fn))
		}
		slices.Sort(got)
		if got = slices.Compact(got); !slices.Equal(got, want) {
			t.Errorf("names:\n got %q\nwant %q", got, want)
		}
	}
}

// A panic of a pass makes the package unusable, and says whose it was.
func TestAnalysePanic(t *testing.T) {
	for _, r := range analysistest.Run(t, analysistest.TestData(), ir.Analyzer, "names") {
		p := r.Result.(*ir.Program)
		pass := &analysis.Pass{Analyzer: &analysis.Analyzer{Name: "broken"}, Pkg: p.Pkg.Pkg}
		p.Analyse(pass, func() { panic("boom") })
		if p.Usable() || !strings.Contains(p.Problem(), "names: internal error in broken: boom") {
			t.Errorf("usable %v, problem %q", p.Usable(), p.Problem())
		}
		p.Analyse(pass, func() { t.Error("a pass ran on an unusable package") })
	}
}
