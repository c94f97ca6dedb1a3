package unordered_test

import (
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/interlock-go/interlock/analyzers/unordered"
)

func Test(t *testing.T) {
	results := analysistest.Run(t, analysistest.TestData(), unordered.Analyzer, "basic", "generics", "ordered", "tests")
	t.Run("copied receiver", func(t *testing.T) { copiedReceiver(t, results) })
}

// copiedReceiver demands that a method with a value for its receiver copies that where it is called, not where the
// pointer was made.
func copiedReceiver(t *testing.T, results []*analysistest.Result) {
	for _, r := range results {
		for _, d := range r.Diagnostics {
			if !strings.Contains(d.Message, "counted.n is accessed") {
				continue
			}
			var lines []int
			for _, related := range d.Related {
				lines = append(lines, r.Pass.Fset.Position(related.Pos).Line)
			}
			if !slices.Contains(lines, 27) { // if c.Len() > 1 {
				t.Errorf("the other side is on one of the lines %v", lines)
			}
			return
		}
	}
	t.Error("no finding")
}
