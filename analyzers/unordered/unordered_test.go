package unordered_test

import (
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/interlock-go/interlock/analyzers/check"
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

// TestLeads demands a lead, and no more, for the type that has a lock.
func TestLeads(t *testing.T) {
	var titles []string
	for _, r := range analysistest.Run(t, analysistest.TestData(), unordered.Analyzer, "leads") {
		for _, f := range r.Result.(*check.Result).Findings {
			titles = append(titles, string(f.Status)+": "+f.Title)
		}
	}
	const without = " is accessed by two functions without a lock in common"
	want := []string{"lead: Stream.deadline" + without, "lead: limit" + without, "lead: Bar.config.max" + without}
	if !slices.Equal(titles, want) {
		t.Errorf("findings %q, want %q", titles, want)
	}
}
