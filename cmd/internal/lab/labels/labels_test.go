package labels

import (
	"slices"
	"strings"
	"testing"

	"github.com/interlock-go/interlock/analyzers/levels"
)

// Every finding has a code, a place, a verdict and the reason for it.
func TestFindings(t *testing.T) {
	all, err := Read()
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range all.Findings {
		if !strings.HasPrefix(f.Code, "IL") || f.Module == "" || f.Place == "" || f.Why == "" {
			t.Errorf("finding %d: %+v", i+1, f)
		}
	}
}

func TestUnknownVerdict(t *testing.T) {
	whole := findings
	defer func() { findings = whole }()
	for _, text := range []string{
		`{"draws": ["one"], "findings": [{"draw": 1, "verdict": "perhaps"}]}`,
		`{"draws": ["one"], "findings": [{"draw": 2, "verdict": "true"}]}`,
	} {
		findings = []byte(text)
		if _, err := Read(); err == nil {
			t.Errorf("no error for %s", text)
		}
	}
}

func TestTable(t *testing.T) {
	l := &Labels{Draws: []string{"a", "b"}, Findings: []Label{
		{Draw: 1, Code: "IL3001", Verdict: True},
		{Draw: 2, Code: "IL1001", Verdict: False},
		{Draw: 2, Code: "IL1001", Verdict: Harmful},
	}}
	all := l.formatTable(0)
	for _, row := range []string{"| IL1001 | 1 | 0 | 0 | 0 | 1 | 0 | 0 |\n| IL3001 | 0 | 0 | 0 | 1 | 0 | 0 | 0 |\n"} {
		if !strings.Contains(all, row) {
			t.Errorf("no row %q in %s", row, all)
		}
	}
	if first := l.formatTable(1); strings.Contains(first, "IL1001") {
		t.Errorf("another draw is counted: %s", first)
	}
}

// The classes that the checks read have the counts of the labels.
func TestClassesAreFresh(t *testing.T) {
	all, err := Read()
	if err != nil {
		t.Fatal(err)
	}
	if got, want := levels.Classes(), all.countClasses(levels.Classes()); !slices.Equal(got, want) {
		t.Errorf("analyzers/levels/classes.json is stale; mend it with: go run ./cmd/internal/lab labels -classes " +
			"analyzers/levels/classes.json")
	}
}
