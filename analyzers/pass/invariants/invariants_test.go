package invariants_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/interlock-go/interlock/analyzers/pass/invariants"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestGolden compares the sections of each package with a golden file beside it:
// entry, then the ends, each "line mode", with the line of the call where there is one.
func TestGolden(t *testing.T) {
	for _, c := range []struct {
		pkg    string
		wanted bool
	}{{"pairs", true}, {"declared", false}, {"intests", false}, {"leads", false}} {
		invariants.Wanted = c.wanted
		t.Cleanup(func() { invariants.Wanted = false })
		// The variant with the tests repeats what the package has without them.
		var all string
		for _, r := range analysistest.Run(t, analysistest.TestData(), invariants.Analyzer, c.pkg) {
			res := r.Result.(*invariants.Result)
			var b strings.Builder
			for _, s := range res.Sections {
				fmt.Fprintf(&b, "%s %s: %s", s.Function, s.Variable, half(s.Entry))
				for _, e := range s.Ends {
					fmt.Fprintf(&b, " -> %s", half(e))
				}
				if s.Declared {
					b.WriteString(" (declared)")
				}
				if s.Lead != "" {
					fmt.Fprintf(&b, " (lead: %s)", s.Lead)
				}
				b.WriteByte('\n')
			}
			for _, p := range res.Problems {
				fmt.Fprintf(&b, "line %d: %s\n", r.Action.Package.Fset.Position(p.Pos).Line, p.Message)
			}
			if b.Len() > len(all) {
				all = b.String()
			}
		}
		golden(t, filepath.Join("testdata", "src", c.pkg, c.pkg+".golden"), all)
	}
}

func half(h invariants.Half) string {
	s := fmt.Sprintf("%d %s", h.Line, h.Mode)
	if h.Map {
		s += " map"
	}
	if h.Call != nil {
		s += fmt.Sprintf(" by the call in %d", h.Call.Line)
	}
	return s
}

func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s:\ngot\n%s\nwant\n%s\n(go test ./analyzers/pass/invariants -update writes it anew)", file, got, want)
	}
}
