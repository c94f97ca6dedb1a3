// Package pairs holds small programs, each once with a bug and once without, by which the checks are measured. The
// archives of analyzers/registry/testdata/pairs hold them, one idea a pair:
//
//   - a section is a file without its package clause and imports, a test if
//     its name ends in _test;
//   - a line with //bug is in the program with the bug only, one with //clean in
//     the other;
//   - `// want IL1008` stands at an access, or another place, that a finding of the
//     code has to name; `IL1001|IL1008` means either code.
package pairs

import (
	"errors"
	"fmt"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/packages"
	"golang.org/x/tools/txtar"

	"github.com/interlock-go/interlock/analyzers/check"
	"github.com/interlock-go/interlock/analyzers/finding"
)

// Pair is a program with a bug and without it.
type Pair struct {
	Name  string         // of the archive, and of the section in it: guards/forgotten
	wants map[int]string // codes by line
}

// IsFoundIn reports whether a finding names a place of the bug, with its code.
func (p Pair) IsFoundIn(list []*finding.Finding) bool {
	return slices.ContainsFunc(list, func(f *finding.Finding) bool {
		return slices.ContainsFunc(Lines(f), func(n int) bool {
			return p.wants[n] != "" && slices.Contains(strings.Split(p.wants[n], "|"), string(f.Code))
		})
	})
}

// Lines lists the lines that a finding names.
func Lines(f *finding.Finding) []int {
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

// Folder returns where [Write] writes one of the programs, the one with the bug or the clean one.
func (p Pair) Folder(root string, hasBug bool) string {
	if hasBug {
		return filepath.Join(root, p.Name, "bug")
	}
	return filepath.Join(root, p.Name, "clean")
}

// Write writes each program of the archives in a folder into one of its own below root, which becomes a module.
func Write(archives, root string) ([]Pair, error) {
	paths, err := filepath.Glob(filepath.Join(archives, "*.txtar"))
	if err != nil || len(paths) == 0 {
		return nil, fmt.Errorf("%s holds no pairs (%v)", archives, err)
	}
	if err := writeFile(filepath.Join(root, "go.mod"), "module pairs\n\ngo 1.25\n"); err != nil {
		return nil, err
	}
	var pairs []Pair
	for _, path := range paths {
		archive, err := txtar.ParseFile(path)
		if err != nil {
			return nil, err
		}
		theme := strings.TrimSuffix(filepath.Base(path), ".txtar")
		for _, file := range archive.Files {
			p, err := writePair(root, theme, file)
			if err != nil {
				return nil, err
			}
			pairs = append(pairs, p)
		}
	}
	return pairs, nil
}

// writePair writes the two programs of one section.
func writePair(root, theme string, file txtar.File) (Pair, error) {
	name, isTest := strings.CutSuffix(file.Name, "_test")
	p := Pair{filepath.Join(theme, name), wantsOf(program(string(file.Data), "bug"))}
	base := "x.go"
	if isTest {
		base = "x_test.go"
	}
	for _, variant := range []string{"bug", "clean"} {
		source := program(string(file.Data), variant)
		if err := writeFile(filepath.Join(p.Folder(root, variant == "bug"), base), source); err != nil {
			return p, err
		}
	}
	return p, nil
}

// program returns the source of one variant.
func program(text, variant string) string {
	var b strings.Builder
	if first, rest, ok := strings.Cut(text, "\n"); ok && strings.HasPrefix(first, "//go:build") {
		fmt.Fprintf(&b, "%s\n\n", first)
		text = rest
	}
	b.WriteString("package x\n\n")
	text = keepVariant(text, variant)
	used := map[string]bool{}
	for _, m := range usage.FindAllStringSubmatch(text, -1) {
		if path := imports[m[1]]; path != "" && !used[path] {
			used[path] = true
			fmt.Fprintf(&b, "import %q\n", path)
		}
	}
	return b.String() + "\n" + text
}

func keepVariant(text, variant string) string {
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

func writeFile(path, text string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o666)
}

// Load loads packages of the module in a folder, by default all, with their tests and imports, from source.
func Load(root string, folders ...string) ([]*packages.Package, error) {
	if len(folders) == 0 {
		folders = []string{"./..."}
	}
	loaded, err := packages.Load(&packages.Config{
		Mode: packages.LoadAllSyntax | packages.NeedModule, Dir: root, Tests: true, Fset: token.NewFileSet(),
	}, folders...)
	if err != nil {
		return nil, err
	}
	var problems []error
	for _, p := range loaded {
		for _, e := range p.Errors {
			problems = append(problems, e)
		}
	}
	// The program that runs the tests is not theirs.
	return slices.DeleteFunc(loaded, func(p *packages.Package) bool {
		return len(p.GoFiles) == 0 || strings.HasSuffix(p.ID, ".test")
	}), errors.Join(problems...)
}

// Check runs checks on loaded packages and returns the findings by folder, and the leads if they are wanted.
func Check(loaded []*packages.Package, checks []*analysis.Analyzer, leads bool) (map[string][]*finding.Finding, error) {
	graph, err := checker.Analyze(checks, loaded, nil)
	if err != nil {
		return nil, err
	}
	findings := map[string][]*finding.Finding{}
	for _, action := range graph.Roots {
		r, ok := action.Result.(*check.Result)
		if !ok {
			return nil, fmt.Errorf("%s: no result: %w", action, action.Err)
		}
		dir := filepath.Dir(action.Package.GoFiles[0])
		for _, f := range r.Findings {
			if leads || f.Status != finding.Lead {
				findings[dir] = append(findings[dir], f)
			}
		}
	}
	return findings, nil
}
