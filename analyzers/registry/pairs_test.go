package registry_test

import (
	"fmt"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/packages"
	"golang.org/x/tools/txtar"

	"github.com/interlock-go/interlock/analyzers/check"
	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/registry"
)

// foundShare is how many of a hundred bugs the checks have to find.
const foundShare = 90

// TestPairs runs all checks on small programs, each once with a bug and once
// without. The archives of testdata/pairs hold them, one idea a pair:
//
//   - a section is a file without its package clause and imports, a test if
//     its name ends in _test;
//   - a line with //bug is in the program with the bug only, one with //clean in
//     the other;
//   - `// want IL1008` stands at an access, or another place, that a finding of the
//     code has to name; `IL1001|IL1008` means either code.
//
// In the clean programs nothing may be found. Leads do not count.
func TestPairs(t *testing.T) {
	if testing.Short() {
		t.Skip("builds hundreds of programs")
	}
	root := t.TempDir()
	pairs := writePairs(t, root)
	findings := checkAll(t, root)
	found := 0
	for _, p := range pairs {
		if p.foundIn(findings[filepath.Join(root, p.name, "bug")]) {
			found++
		} else {
			t.Logf("missed: %s", p.name)
		}
		for _, f := range findings[filepath.Join(root, p.name, "clean")] {
			t.Errorf("%s without the bug: %s %s (line %d)", p.name, f.Code, f.Title, lines(f)[0])
		}
	}
	share := 100 * found / len(pairs)
	t.Logf("%d of %d bugs found, %d %%", found, len(pairs), share)
	if share < foundShare {
		t.Errorf("%d %% of the bugs found, want %d", share, foundShare)
	}
}

type pair struct {
	name  string
	wants map[int]string // codes by line
}

func (p pair) foundIn(list []*finding.Finding) bool {
	return slices.ContainsFunc(list, func(f *finding.Finding) bool {
		return slices.ContainsFunc(lines(f), func(n int) bool {
			return p.wants[n] != "" && slices.Contains(strings.Split(p.wants[n], "|"), string(f.Code))
		})
	})
}

// lines lists the lines that a finding names.
func lines(f *finding.Finding) []int {
	var list []int
	for _, a := range f.Accesses {
		list = append(list, a.Line)
	}
	for _, e := range f.Cycle {
		list = append(list, e.Position.Line)
	}
	return append(list, 0)
}

var (
	marker = regexp.MustCompile(`//(bug|clean)\b`)
	want   = regexp.MustCompile(`// want (\S+)`)
	usage  = regexp.MustCompile(`\b([a-z]+)\.[A-Z]`)
)

// imports are the packages that pairs use, by the name they have there.
var imports = map[string]string{
	"atomic": "sync/atomic", "bytes": "bytes", "context": "context", "errors": "errors", "fmt": "fmt", "io": "io",
	"list": "container/list", "maps": "maps", "os": "os", "rand": "math/rand", "slices": "slices", "sort": "sort",
	"strings": "strings", "sync": "sync", "testing": "testing", "time": "time",
}

// writePairs writes each program into a folder of its own.
func writePairs(t *testing.T, root string) []pair {
	archives, err := filepath.Glob("testdata/pairs/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatalf("no pairs: %v", err)
	}
	var pairs []pair
	write(t, filepath.Join(root, "go.mod"), "module pairs\n\ngo 1.25\n")
	for _, path := range archives {
		archive, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		theme := strings.TrimSuffix(filepath.Base(path), ".txtar")
		for _, file := range archive.Files {
			name, isTest := strings.CutSuffix(file.Name, "_test")
			p := pair{filepath.Join(theme, name), map[int]string{}}
			base := "x.go"
			if isTest {
				base = "x_test.go"
			}
			for _, variant := range []string{"bug", "clean"} {
				source := program(string(file.Data), variant)
				write(t, filepath.Join(root, p.name, variant, base), source)
				if variant == "bug" {
					p.wants = wantsOf(source)
				}
			}
			pairs = append(pairs, p)
		}
	}
	return pairs
}

// program returns the source of one variant.
func program(text, variant string) string {
	var b strings.Builder
	if first, rest, ok := strings.Cut(text, "\n"); ok && strings.HasPrefix(first, "//go:build") {
		fmt.Fprintf(&b, "%s\n\n", first)
		text = rest
	}
	b.WriteString("package x\n\n")
	text = kept(text, variant)
	used := map[string]bool{}
	for _, m := range usage.FindAllStringSubmatch(text, -1) {
		if path := imports[m[1]]; path != "" && !used[path] {
			used[path] = true
			fmt.Fprintf(&b, "import %q\n", path)
		}
	}
	return b.String() + "\n" + text
}

func kept(text, variant string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if m := marker.FindStringSubmatch(strings.TrimSpace(line)); m == nil || m[1] == variant {
			b.WriteString(line)
		}
	}
	return b.String()
}

func wantsOf(source string) map[int]string {
	wants := map[int]string{}
	n := 0
	for line := range strings.Lines(source) {
		n++
		if m := want.FindStringSubmatch(line); m != nil {
			wants[n] = m[1]
		}
	}
	return wants
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// checkAll runs all checks and returns the findings by folder.
func checkAll(t *testing.T, root string) map[string][]*finding.Finding {
	loaded, err := packages.Load(&packages.Config{
		Mode: packages.LoadAllSyntax | packages.NeedModule, Dir: root, Tests: true, Fset: token.NewFileSet(),
	}, "./...")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range loaded {
		for _, e := range p.Errors {
			t.Errorf("%s", e)
		}
	}
	// The program that runs the tests is not theirs.
	loaded = slices.DeleteFunc(loaded, func(p *packages.Package) bool {
		return len(p.GoFiles) == 0 || strings.HasSuffix(p.ID, ".test")
	})
	graph, err := checker.Analyze(registry.Analyzers(), loaded, nil)
	if err != nil {
		t.Fatal(err)
	}
	findings := map[string][]*finding.Finding{}
	for _, action := range graph.Roots {
		r, ok := action.Result.(*check.Result)
		if !ok {
			t.Fatalf("%s: no result: %v", action, action.Err)
		}
		dir := filepath.Dir(action.Package.GoFiles[0])
		for _, f := range r.Findings {
			if f.Status != finding.Lead {
				findings[dir] = append(findings[dir], f)
			}
		}
	}
	return findings
}
