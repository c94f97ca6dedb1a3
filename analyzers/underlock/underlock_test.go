package underlock_test

import (
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/interlock-go/interlock/analyzers/check"
	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/levels"
	"github.com/interlock-go/interlock/analyzers/underlock"
)

// Each folder of testdata/src is one language feature or one way to be wrong.
func Test(t *testing.T) {
	analysistest.Run(t, analysistest.TestData(), underlock.Analyzer, "basic", "callbacks", "callees", "closures",
		"cross", "crossuse", "scopes")
}

// A wait for the outside is of a class of its own, which is not shown by default.
func TestOutside(t *testing.T) {
	for _, r := range analysistest.Run(t, analysistest.TestData(), underlock.Analyzer, "outside") {
		findings := r.Result.(*check.Result).Findings
		for _, f := range findings {
			if levels.Graded(f).Level == finding.Likely {
				t.Errorf("%s is likely", f.Title)
			}
		}
		if len(findings) != 3 {
			t.Errorf("%d findings, want 3", len(findings))
		}
	}
}
