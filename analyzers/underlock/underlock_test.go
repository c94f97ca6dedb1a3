package underlock_test

import (
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/interlock-go/interlock/analyzers/check"
	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/underlock"
)

// Each folder of testdata/src is one language feature or one way to be wrong.
func Test(t *testing.T) {
	analysistest.Run(t, analysistest.TestData(), underlock.Analyzer, "basic", "callbacks", "callees", "closures",
		"cross", "crossuse", "scopes")
}

// Hints are diagnostics on request only, and findings of their own level.
func TestHints(t *testing.T) {
	if err := underlock.Analyzer.Flags.Set(check.HintsFlag, "true"); err != nil {
		t.Fatal(err)
	}
	defer underlock.Analyzer.Flags.Set(check.HintsFlag, "false")
	for _, r := range analysistest.Run(t, analysistest.TestData(), underlock.Analyzer, "hints") {
		findings := r.Result.(*check.Result).Findings
		for _, f := range findings {
			if f.Level != finding.Hint {
				t.Errorf("%s is no hint", f.Title)
			}
		}
		if len(findings) != 3 {
			t.Errorf("%d findings, want 3", len(findings))
		}
	}
}
