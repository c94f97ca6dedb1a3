package captured_test

import (
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/interlock-go/interlock/analyzers/captured"
	"github.com/interlock-go/interlock/analyzers/check"
	"github.com/interlock-go/interlock/analyzers/finding"
)

func Test(t *testing.T) {
	results := analysistest.Run(t, analysistest.TestData(), captured.Analyzer, "basic", "loops", "generics", "closures",
		"cross", "crossuse", "siblings", "bounds", "tests", "tested", "streams")
	t.Run("leads", func(t *testing.T) { leads(t, results) })
}

// leads returns the findings that the tested code may order. They are not printed.
func leads(t *testing.T, results []*analysistest.Result) {
	var got []string
	for _, result := range results {
		if result.Result == nil || !strings.HasPrefix(result.Pass.Pkg.Path(), "tested") {
			continue
		}
		for _, f := range result.Result.(*check.Result).Findings {
			if f.Status == finding.Lead {
				got = append(got, f.Variable.Name)
			}
		}
	}
	if want := []string{"called", "count", "set", "future"}; !slices.Equal(got, want) {
		t.Errorf("leads %q, want %q", got, want)
	}
}
