package pointsto_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/interlock-go/interlock/atomicsets/plan"
	"github.com/interlock-go/interlock/pointsto"
	"github.com/interlock-go/interlock/pointsto/load"
)

// words are the verdicts as the fixtures have them.
var words = map[plan.Reason]string{
	plan.WholeLocal: "local", plan.WholeNotParallel: "not-parallel", plan.WholeStationary: "stationary", "": shared,
}

// Words of sites that are not skipped.
const (
	shared   = "shared"
	unjudged = "unjudged"
)

// TestVerdicts runs the programs of testdata. A comment `// want local` names
// the verdicts on all sites of its line, with commas between. A site in a line
// without such a comment must not be skipped. The words "tests" and "open" in
// the first line of an archive say how the program is looked at.
func TestVerdicts(t *testing.T) {
	names, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(names) == 0 {
		t.Fatal("no fixtures", err)
	}
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			t.Parallel()
			ar, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			compare(t, verdicts(t, ar), wants(ar))
		})
	}
}

// verdicts judges the program, by file:line.
func verdicts(t *testing.T, ar *txtar.Archive) map[string][]string {
	t.Helper()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "go.mod"), []byte("module fixture\n\ngo 1.24\n"))
	for _, f := range ar.Files {
		write(t, filepath.Join(dir, f.Name), f.Data)
	}
	title, _, _ := strings.Cut(string(ar.Comment), "\n")
	p, err := load.Load(t.Context(), load.Options{
		Dir: dir, Patterns: []string{"./..."}, Root: dir, Tests: strings.Contains(title, "tests"), Programs: true,
		Env: append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off"),
	})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string][]string{}
	for _, v := range pointsto.Analyze(p, pointsto.Options{Open: strings.Contains(title, "open")}).Verdicts() {
		at, word := fmt.Sprintf("%s:%d", v.Site.File, v.Site.Line), words[v.Reason]
		if !v.Judged {
			word = unjudged
		}
		if !slices.Contains(got[at], word) {
			got[at] = append(got[at], word)
		}
	}
	return got
}

func write(t *testing.T, name string, data []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

// wants reads the comments, by file:line.
func wants(ar *txtar.Archive) map[string][]string {
	all := map[string][]string{}
	for _, f := range ar.Files {
		n := 0
		for line := range strings.Lines(string(f.Data)) {
			n++
			if _, list, ok := strings.Cut(strings.TrimSpace(line), "// want "); ok {
				all[fmt.Sprintf("%s:%d", f.Name, n)] = strings.Split(list, ", ")
			}
		}
	}
	return all
}

func compare(t *testing.T, got, want map[string][]string) {
	t.Helper()
	for _, at := range slices.Sorted(maps.Keys(got)) {
		slices.Sort(got[at])
		slices.Sort(want[at])
		switch {
		case want[at] != nil && !slices.Equal(got[at], want[at]):
			t.Errorf("%s: %s, want %s", at, strings.Join(got[at], ", "), strings.Join(want[at], ", "))
		case want[at] == nil && slices.ContainsFunc(got[at], skips):
			t.Errorf("%s: %s, and no comment wants it", at, strings.Join(got[at], ", "))
		}
	}
	for at := range want {
		if got[at] == nil {
			t.Errorf("%s: no site, want %s", at, strings.Join(want[at], ", "))
		}
	}
}

func skips(word string) bool { return word != shared && word != unjudged }
