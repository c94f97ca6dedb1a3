package bench

import (
	"encoding/xml"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/interlock-go/interlock/atomicsets/plan"
	"github.com/interlock-go/interlock/cmd/internal/lab/internal/matrix"
)

// A variant that could not be measured shows as such, not as no overhead.
func TestTableShowsWhatIsMissing(t *testing.T) {
	r := matrix.Figures{}
	r.Add("Tree", "plain", 100)
	r.Add("Tree", "watch", 0.25)
	d := &document{
		variants: []*variant{{name: "plain"}, {name: "watch"}, {name: "-race", skipped: "no C compiler"}}, times: r,
		pruning: new(pruning), rounds: 1, benchtime: "1s",
	}
	got := d.markdown()
	for _, want := range []string{
		"| Tree | 100 | 0.25 (0.25 to 0.25) | - |", "not measured: no C compiler", "| **median** |  | **0.25** | - |",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the table lacks %q:\n%s", want, got)
		}
	}
}

func TestChart(t *testing.T) {
	r := matrix.Figures{}
	r.Add("Tree", "plain", 100)
	r.Add("Tree", "watch", 3)
	d := &document{variants: []*variant{{name: "plain"}, {name: "watch"}, {name: "-race"}}, times: r}
	got := d.drawChart()
	for dec := xml.NewDecoder(strings.NewReader(got)); ; {
		if _, err := dec.Token(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatalf("no XML: %v", err)
		}
	}
	// One bar, as long as the scale, that of four times plain.
	if strings.Count(got, "<title>") != 1 || !strings.Contains(got, fmt.Sprintf(`width="%d.0"`, chartWidth)) ||
		!strings.Contains(got, "Tree, watch: 4.00") {
		t.Errorf("chart:\n%s", got)
	}
}

// What is left out counts by its reason, and each executed access once.
func TestPruning(t *testing.T) {
	counts := filepath.Join(t.TempDir(), "counts")
	if err := os.WriteFile(counts, []byte("1 30\n2 10\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	p := &plan.Plan{Sites: []plan.Site{{ID: 1, Reason: plan.Fresh}, {ID: 2}, {ID: 3}, {ID: 4}}}
	lean := &plan.Plan{Sites: []plan.Site{{ID: 1, Reason: plan.Fresh}, {ID: 2, Reason: plan.WholeLocal}, {ID: 3}, {ID: 4}}}
	pr := &pruning{modular: newTally(), whole: newTally()}
	if err := errors.Join(pr.modular.addLines(counts, p), pr.whole.addLines(counts, lean)); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"| monitored | 3 (75 %) | 25 % | 2 (50 %) | 0 % |",
		"| goroutine-local: no other goroutine of the program can reach it | 0 (0 %) | 0 % | 1 (25 %) | 25 % |",
		"| goroutine-local: not shared yet | 1 (25 %) | 75 % | 1 (25 %) | 75 % |",
	}
	if got := pr.formatRows(); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if err := os.WriteFile(counts, []byte("9 1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := pr.modular.addLines(counts, p); err == nil {
		t.Error("a site that the plan does not have is counted")
	}
}

// The monitor that counts has every call for accesses that the rewriter may put into a program.
func TestCounterHasEveryAccess(t *testing.T) {
	monitor, err := os.ReadFile("../../../../dynamic/rt/fast.go")
	if err != nil {
		t.Fatal(err)
	}
	have := exported(t, string(counter))
	for name := range exported(t, string(monitor)) {
		if !have[name] {
			t.Errorf("count.go.txt has no %s", name)
		}
	}
}

// exported returns the names of a file's exported functions.
func exported(t *testing.T, src string) map[string]bool {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "", src, 0)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Name.IsExported() {
			names[f.Name.Name] = true
		}
	}
	return names
}
