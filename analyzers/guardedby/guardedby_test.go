package guardedby_test

import (
	"slices"
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/interlock-go/interlock/analyzers/check"
	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/guardedby"
)

// Each folder of testdata/src is one language feature or one way to be wrong.
func Test(t *testing.T) {
	analysistest.Run(t, analysistest.TestData(), guardedby.Analyzer,
		"basic", "helpers", "owned", "published", "closures", "generics", "rwmutex",
		"annotated", "user", "outlives", "roles", "ignored", "command", "wrapper", "writers",
		"starts", "setup", "owner", "apart", "comments", "spin", "closed", "byvalue",
		"copies", "elements", "inner", "branches", "standalone", "mixed", "counted", "striped")
}

// TestFindings reads those of packages where they differ from the diagnostics.
func TestFindings(t *testing.T) {
	results := analysistest.Run(t, analysistest.TestData(), guardedby.Analyzer, "leads", "siblings", "promises")
	for _, r := range results {
		switch findings := r.Result.(*check.Result).Findings; r.Pass.Pkg.Path() {
		case "leads":
			t.Run("leads", func(t *testing.T) { leads(t, findings) })
		case "siblings":
			t.Run("siblings", func(t *testing.T) { siblings(t, findings) })
		case "promises":
			t.Run("promises", func(t *testing.T) { promises(t, findings) })
		}
	}
	if len(results) != 3 {
		t.Errorf("%d packages, want 3", len(results))
	}
}

// leads returns the findings that are possible and not printed.
func leads(t *testing.T, findings []*finding.Finding) {
	var got []string
	for _, f := range findings {
		got = append(got, string(f.Status)+" "+f.Title)
	}
	want := []string{"lead EchoPinger.debug is read without p.mu", "suspected EchoPinger.name is read without p.mu",
		"lead Client.protocol is read without c.mu", "lead Server.handler is read without s.mu",
		"lead Node.refs is written without r.mu", "lead App.stale is written without a.mu",
		"suspected App.config is written without a.mu", "lead Suite.current is read without s.mu",
		"suspected Suite.next is read without s.mu", "lead Conn.sent is read without c.mu",
		"suspected Conn.last is read without c.mu", "suspected Meter.seen is read without m.mu",
		"lead Meter.total is read without m.mu",
		"lead Flusher.quit is read without f.mu", "suspected Flusher.wake is read without f.mu",
		"lead Limits.tries is read without l.mu", "suspected Limits.wait is read without l.mu"}
	if !slices.Equal(got, want) {
		t.Errorf("findings %q, want %q", got, want)
	}
}

// siblings counts findings, which are fewer than the diagnostics.
func siblings(t *testing.T, findings []*finding.Finding) {
	var titles []string
	for _, f := range findings {
		titles = append(titles, f.Title)
	}
	want := []string{"Conn.lazy is written without c.mu", "Conn.in is read without c.mu",
		"Cache.opts is read without c.mu"}
	if !slices.Equal(titles, want) {
		t.Errorf("findings %q, want %q", titles, want)
	}
}

// promises reads the classes by what comments say of several goroutines.
func promises(t *testing.T, findings []*finding.Finding) {
	for _, f := range findings {
		want := "IL1001" + finding.Writers
		if f.Title == "Log.lines is read without l.mu" {
			want = "IL1001" + finding.ForMany
		}
		if f.Class != want {
			t.Errorf("%s is %s, want %s", f.Title, f.Class, want)
		}
	}
	if len(findings) != 5 {
		t.Errorf("%d findings, want 5", len(findings))
	}
}
