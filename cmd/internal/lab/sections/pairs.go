package sections

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/analyzers/finding"
)

// Folders of a pair.
const (
	violating = "violating"
	fixed     = "fixed"
)

// pair is a wrong program and the same, mended.
type pair struct {
	name   string
	about  string // the bug, as the package comment has it
	want   finding.Code
	halves []place // where `// want` comments have entry and end

	static    bool // the wrong one is suspected, with the code
	watch     int  // runs that confirmed it
	pattern   string
	harmful   bool
	race      int // runs in which the race detector reported anything
	suspected int // findings of this family about the right one
	alarms    int // confirmed in it
}

var expected = regexp.MustCompile(`\s*\b(IL2\d\d\d)\.$`)

// findPairs finds the pairs below dir that have match in their names.
func findPairs(dir, match string) ([]pair, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("finding the pairs: %w", err)
	}
	var pairs []pair
	for _, e := range entries {
		if !e.IsDir() || e.Name() == "testdata" || !strings.Contains(e.Name(), match) {
			continue
		}
		p, err := readPair(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		pairs = append(pairs, p)
	}
	return pairs, nil
}

// readPair reads the package comments of a pair.
func readPair(dir string) (pair, error) {
	p := pair{name: filepath.Base(dir)}
	about, err := packageComment(filepath.Join(dir, violating))
	if err != nil {
		return p, err
	}
	m := expected.FindStringSubmatchIndex(about)
	if m == nil {
		return p, fmt.Errorf("the comment of %s does not end in the code that is expected, such as IL2002",
			filepath.Join(dir, violating))
	}
	p.about, p.want = about[:m[0]], finding.Code(about[m[2]:m[3]])
	if p.halves, err = wanted(filepath.Join(dir, violating)); err != nil {
		return p, err
	}
	_, err = packageComment(filepath.Join(dir, fixed))
	return p, err
}

// place is a line of a file, by its base name.
type place struct {
	file string
	line int
}

var wantComment = regexp.MustCompile(`// want IL2\d\d\d (entry|end)`)

// wanted returns the lines below dir with `// want CODE entry` or `end`; there must
// be one of each.
func wanted(dir string) (halves []place, err error) {
	found := map[string]bool{}
	err = filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(name, ".go") {
			return err
		}
		data, err := os.ReadFile(name)
		n := 0
		for line := range strings.Lines(string(data)) {
			n++
			if m := wantComment.FindStringSubmatch(line); m != nil {
				halves = append(halves, place{filepath.Base(name), n})
				found[m[1]] = true
			}
		}
		return err
	})
	if err == nil && len(found) != 2 {
		err = fmt.Errorf("%s needs `// want CODE entry` and `// want CODE end` at the two halves", dir)
	}
	return halves, err
}

// showsBug reports whether f has the code and both halves.
func (p *pair) showsBug(f *finding.Finding) bool {
	lines := map[place]bool{}
	for _, a := range f.Accesses {
		lines[place{path.Base(a.File), a.Line}] = true
	}
	if f.Section != nil {
		for _, at := range f.Section.Places() {
			lines[place{path.Base(at.File), at.Line}] = true
		}
	}
	for _, h := range p.halves {
		if !lines[h] {
			return false
		}
	}
	return f.Code == p.want
}

// packageComment returns that of the package in dir, on one line.
func packageComment(dir string) (string, error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return "", err
	}
	test := slices.ContainsFunc(names, func(n string) bool { return strings.HasSuffix(n, "_test.go") })
	for _, name := range names {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.PackageClauseOnly|parser.ParseComments)
		if err != nil {
			return "", err
		}
		if text := comment(f); text != "" && test {
			return text, nil
		}
	}
	return "", fmt.Errorf("%s needs a package with a comment, and a test", dir)
}

func comment(f *ast.File) string { return strings.Join(strings.Fields(f.Doc.Text()), " ") }

// isWrong returns the figure that is not as it should be, or "".
func (p *pair) isWrong() string {
	switch {
	case !p.static && p.watch == 0:
		return fmt.Sprintf("neither suspected nor confirmed as %s, with both halves", p.want)
	case p.alarms > 0:
		return fmt.Sprintf("%d findings confirmed in the program that is right", p.alarms)
	}
	return ""
}
