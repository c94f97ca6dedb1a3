package hidden

import (
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// findPairs finds the pairs of packages below dir: violating has a split section, and fixed is the same, mended.
func findPairs(dir string) (programs []*program, err error) {
	folders, err := filepath.Glob(filepath.Join(dir, "*", "violating"))
	if err != nil {
		return nil, err
	}
	for _, folder := range folders {
		pair, err := readPair(filepath.Dir(folder))
		if err != nil {
			return nil, err
		}
		programs = append(programs, pair...)
	}
	return programs, nil
}

// expected is the end of the comment of a violating package.
var expected = regexp.MustCompile(`\s*\b(IL2\d\d\d)\.$`)

// readPair reads the package comments of a pair.
func readPair(dir string) ([]*program, error) {
	wrong := &program{folder: path.Join(filepath.Base(dir), "violating")}
	right := &program{folder: path.Join(filepath.Base(dir), "fixed")}
	about, err := packageComment(filepath.Join(dir, "violating"))
	if err != nil {
		return nil, err
	}
	m := expected.FindStringSubmatchIndex(about)
	if m == nil {
		return nil, fmt.Errorf("the comment of %s does not end in the code that is expected, such as IL2002", wrong.folder)
	}
	wrong.title, wrong.codes = about[:m[0]], []string{about[m[2]:m[3]]}
	if wrong.halves, err = findHalves(filepath.Join(dir, "violating")); err != nil {
		return nil, err
	}
	right.title, err = packageComment(filepath.Join(dir, "fixed"))
	return []*program{wrong, right}, err
}

var wantComment = regexp.MustCompile(`// want IL2\d\d\d (entry|end)`)

// findHalves returns the lines below dir with `// want CODE entry` or `end`; there must be one of each.
func findHalves(dir string) (halves []place, err error) {
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

// packageComment returns the comment of the package in dir, on one line. The package must have a test.
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
		if text := strings.Join(strings.Fields(f.Doc.Text()), " "); text != "" && test {
			return text, nil
		}
	}
	return "", fmt.Errorf("%s needs a package with a comment, and a test", dir)
}
