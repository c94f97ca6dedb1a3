package captured_test

import (
	"slices"
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/interlock-go/interlock/analyzers/captured"
	"github.com/interlock-go/interlock/analyzers/check"
	"github.com/interlock-go/interlock/analyzers/finding"
)

func Test(t *testing.T) {
	analysistest.Run(t, analysistest.TestData(), captured.Analyzer, "basic", "loops", "generics", "closures", "cross",
		"crossuse", "siblings", "tests")
}

// TestLeads reads what the code that is tested may order: it has no diagnostic.
func TestLeads(t *testing.T) {
	var got []string
	for _, result := range analysistest.Run(t, analysistest.TestData(), captured.Analyzer, "tested") {
		if result.Result == nil {
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
