package directives_test

import (
	"slices"
	"strings"
	"testing"

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
		}
		if !slices.Equal(got[:min(4, len(got))], want) || len(got) != 5 || !strings.Contains(got[4], "IL1001") {
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
