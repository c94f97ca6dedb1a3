package testuse_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/interlock-go/interlock/analyzers/check"
	"github.com/interlock-go/interlock/analyzers/testuse"
)

func Test(t *testing.T) {
	analysistest.Run(diagnostics{t}, analysistest.TestData(), testuse.Analyzer,
		"basic", "lengths", "nils", "callee", "lib", "generic", "closure", "atomics", "flags", "owner", "again")
}

// What only the users of a package may split is a lead, and what depends on the values.
func TestLeads(t *testing.T) {
	results := analysistest.Run(diagnostics{t}, analysistest.TestData(), testuse.Analyzer, "leads")
	var got []string
	for _, f := range results[0].Result.(*check.Result).Findings {
		got = append(got, fmt.Sprintf("%s %s: %d-%d", f.Status, f.Title, f.Section.Entry.Line, f.Section.End.Line))
	}
	want := []string{"lead test and use of table.m are not one step: 13-17",
		"lead test and use of Set.m are not one step: 45-52"}
	if !slices.Equal(got, want) {
		t.Errorf("findings %q, want %q", got, want)
	}
}

// diagnostics leaves out facts that nobody expects: nearly every function has
// one. What they are for is tested by what package lib finds.
type diagnostics struct{ *testing.T }

func (d diagnostics) Errorf(format string, args ...any) {
	if !strings.Contains(fmt.Sprintf(format, args...), "unexpected fact: ") {
		d.T.Errorf(format, args...)
	}
}
