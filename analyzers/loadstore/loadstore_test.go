package loadstore_test

import (
	"fmt"
	"slices"
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/interlock-go/interlock/analyzers/check"
	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/loadstore"
)

func Test(t *testing.T) {
	analysistest.Run(t, analysistest.TestData(), loadstore.Analyzer, "basic", "signals", "split", "atomics", "calls",
		"version", "phases", "command", "callers", "waited")
}

// What only the users of a package may split is a lead.
func TestLeads(t *testing.T) {
	results := analysistest.Run(t, analysistest.TestData(), loadstore.Analyzer, "leads")
	var got []string
	for _, f := range results[0].Result.(*check.Result).Findings {
		for _, s := range append([]finding.Section{*f.Section}, f.Section.Also...) {
			got = append(got, fmt.Sprintf("%s %s: %d-%d", f.Status, f.Title, s.Entry.Line, s.End.Line))
		}
	}
	want := []string{"lead update of Store.first is not one step: 57-57",
		"lead update of purse.n is not one step: 14-20", "lead update of purse.n is not one step: 27-30"}
	if !slices.Equal(got, want) {
		t.Errorf("findings %q, want %q", got, want)
	}
}
