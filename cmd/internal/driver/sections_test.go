package driver_test

import (
	"bufio"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/cmd/internal/driver"
)

// spot is a line of the corpus of atomic sections that has one half of a
// section: "// want CODE entry" or "end", with ", dynamic only" where no static
// check is expected to find it.
type spot struct {
	file    string
	line    int
	code    finding.Code
	dynamic bool
}

var wantSpot = regexp.MustCompile(`// want (IL\d+) (entry|end)(, dynamic only)?$`)

// TestSections checks testdata/sections: every wrong program is reported with
// the right code and both halves, at most one in ten of the right ones is.
func TestSections(t *testing.T) {
	if os.Getenv("INTERLOCK_TEST_LONG") == "" {
		t.Skip("only in make long")
	}
	root, err := filepath.Abs("../../../testdata/sections")
	if err != nil {
		t.Fatal(err)
	}
	res, err := driver.Vet(context.Background(), driver.Options{Dir: root, Patterns: []string{"./..."}, Tool: tool})
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Problems) > 0 {
		t.Errorf("problems: %v", res.Problems)
	}
	wrong, right, suspected := 0, 0, 0
	for name, half := range pairsIn(t, root) {
		found := inFolder(res.Findings, name)
		if half != "violating" {
			right++
			if len(found) > 0 {
				suspected++
				t.Logf("%s is suspected: %s", name, found[0].Title)
			}
			continue
		}
		wrong++
		for _, s := range spotsIn(t, root, name) {
			if !s.dynamic && !slices.ContainsFunc(found, s.shown) {
				t.Errorf("%s:%d: no %s that shows this half", s.file, s.line, s.code)
			}
		}
	}
	if wrong < 25 || wrong != right {
		t.Errorf("%d wrong programs and %d right ones, want at least 25 pairs", wrong, right)
	}
	if 10*suspected > right {
		t.Errorf("%d of %d right programs are suspected", suspected, right)
	}
}

// pairsIn returns the folders "pair/half" below root, and which half each is.
func pairsIn(t *testing.T, root string) map[string]string {
	t.Helper()
	halves := map[string]string{}
	for _, half := range []string{"violating", "fixed"} {
		dirs, err := filepath.Glob(filepath.Join(root, "*", half))
		if err != nil {
			t.Fatal(err)
		}
		for _, dir := range dirs {
			halves[filepath.Base(filepath.Dir(dir))+"/"+half] = half
		}
	}
	return halves
}

// inFolder returns the findings about atomicity in a folder or below it.
func inFolder(all []*finding.Finding, name string) []*finding.Finding {
	return slices.DeleteFunc(slices.Clone(all), func(f *finding.Finding) bool {
		return !strings.HasPrefix(string(f.Code), "IL2") || !strings.HasPrefix(f.Accesses[0].File, name+"/")
	})
}

// shown reports whether f shows the half at s.
func (s spot) shown(f *finding.Finding) bool {
	places := []finding.Position{}
	for _, a := range f.Accesses {
		places = append(places, a.Position)
	}
	if f.Section != nil {
		for _, p := range f.Section.Places() {
			places = append(places, *p)
		}
	}
	return f.Code == s.code && slices.ContainsFunc(places, func(p finding.Position) bool {
		return p.File == s.file &&
			p.Line == s.line
	})
}

// spotsIn reads the marks of a folder.
func spotsIn(t *testing.T, root, name string) []spot {
	t.Helper()
	var spots []spot
	err := filepath.WalkDir(filepath.Join(root, filepath.FromSlash(name)),
		func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || filepath.Ext(path) != ".go" {
				return err
			}
			f, err := os.Open(path)
			if err != nil {
				return err
			}
			defer f.Close()
			rel, err := filepath.Rel(root, path)
			if err != nil {
				return err
			}
			lines := bufio.NewScanner(f)
			for n := 1; lines.Scan(); n++ {
				if m := wantSpot.FindStringSubmatch(lines.Text()); m != nil {
					spots = append(spots, spot{filepath.ToSlash(rel), n, finding.Code(m[1]), m[3] != ""})
				}
			}
			return lines.Err()
		})
	if err != nil {
		t.Fatal(err)
	}
	if len(spots) == 0 {
		t.Errorf("%s marks no half of a section", name)
	}
	return spots
}
