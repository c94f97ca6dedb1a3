package house

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestRules(t *testing.T) {
	readTree(t)
	tree, _ := tree()
	for _, b := range tree.Breaches() {
		t.Errorf("%s: %s", b.Rule, b.Where)
	}
}

// A row that is wider than the code hides which way the imports go.
func TestRowsAreTight(t *testing.T) {
	readTree(t)
	tree, _ := tree()
	for _, loose := range readRooms(t).Loose(tree) {
		t.Errorf("docs/architecture.md allows more than the code uses: %s", loose)
	}
}

// The pages use none of the words that docs/style.md rejects, which has to name
// them, outside of code and quotations.
func TestWordsOfThePages(t *testing.T) {
	pages, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil || len(pages) < 10 {
		t.Fatalf("%d pages, %v", len(pages), err)
	}
	for _, name := range []string{"README.md", "CONTRIBUTING.md", "CHANGELOG.md", "Makefile"} {
		pages = append(pages, filepath.Join(root, name))
	}
	for _, name := range pages {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(data), "\n") {
			if word := rejected.FindString(line); word != "" && filepath.Base(name) != "style.md" {
				t.Errorf("%s:%d: %q: docs/style.md has better words", name, i+1, word)
			}
		}
	}
}

// Every measure must be able to see what it measures.
func TestSurveyFile(t *testing.T) {
	src := "// Package p gives nothing.\npackage p\n\n" +
		"// F says it. " + strings.Repeat("x", MaxColumns) + "\n" +
		"func (t *T[K]) F(a, b int) {\n" +
		"\tif a > 0 && b > 0 { // why\n\t\tfor range b {\n\t\t}\n\t} else if a < 0 {\n\t}\n" +
		"\tswitch {\n\tcase a == 1:\n\tdefault:\n\t}\n}\n\n" +
		"const (\n\tA = 1 // says A gives\n\tB = `\n`\n)\n"
	f, err := surveyFile("p.go", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	if f.Lines != 21 || f.Code != 17 || f.Comments != 4 || f.Exported != 3 || f.Documented != 2 {
		t.Errorf("sizes: %+v", f)
	}
	openings := []Phrase{{1, "// Package p gives"}, {4, "// F says"}}
	words := []Phrase{{1, "gives"}, {18, "gives"}}
	if !slices.Equal(f.Wide, []int{4}) || !slices.Equal(f.Openings, openings) || !slices.Equal(f.Words, words) {
		t.Errorf("wide %v, openings %v, words %v", f.Wide, f.Openings, f.Words)
	}
	want := Function{Name: "T.F", Line: 5, Lines: 11, Cyclomatic: 6, Nesting: 2, Parameters: 2, Commented: true}
	if len(f.Functions) != 1 || f.Functions[0] != want {
		t.Errorf("functions %+v, want %+v", f.Functions, want)
	}
}

// A rule must be able to refuse, and so must the test of the rows.
func TestBreachesAreSeen(t *testing.T) {
	bad := &Package{Dir: "a", Files: []*File{{
		Name: "a/a.go", Lines: MaxFileLines + 1, Wide: []int{1}, Openings: []Phrase{{Line: 2}},
		Words: []Phrase{{Line: 2}}, Imports: []string{Module + "/b"},
		Functions: []Function{{Name: "F", Lines: MaxBare + 1, Cyclomatic: MaxCyclomatic + 1}, {Name: "G", Lines: MaxBare}},
	}}}
	tree := &Tree{Packages: []*Package{bad}}
	all := tree.Breaches()
	for _, rule := range Rules {
		if n := count(all, rule); n != 1 {
			t.Errorf("%s: %d seen, want 1", rule, n)
		}
	}
	got := Rooms{"a": {"b", "c", "b/..."}}.Loose(tree)
	if want := []string{"a: c (used for 0)", "a: b/... (used for 1)"}; !slices.Equal(got, want) {
		t.Errorf("loose rows %q, want %q", got, want)
	}
}

// The tables that WriteLimits writes are read back as the values of the tree, and all else of the page stays.
func TestWriteLimits(t *testing.T) {
	readTree(t)
	tree, _ := tree()
	page, err := os.ReadFile(filepath.Join(root, "docs", "architecture.md"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "docs"), 0o777); err != nil {
		t.Fatal(err)
	}
	const row = "| `analyzers/aliasescape` | "
	stale := strings.Replace(string(page), row, "| `analyzers/gone` | 1 "+row+"9", 1)
	if err := os.WriteFile(filepath.Join(dir, "docs", "architecture.md"), []byte(stale), 0o666); err != nil {
		t.Fatal(err)
	}
	for range 2 { // a second time changes nothing
		if err := WriteLimits(dir, tree); err != nil {
			t.Fatal(err)
		}
		limits, err := ReadLimits(dir)
		if err != nil {
			t.Fatal(err)
		}
		if want := tree.Figures(); !maps.Equal(limits, want) {
			t.Errorf("limits %v, want %v", limits, want)
		}
		sizes, err := ReadRoomSizes(dir)
		if err != nil {
			t.Fatal(err)
		}
		if want := tree.RoomSizes(); !maps.Equal(sizes, want) {
			t.Errorf("sizes %v, want %v", sizes, want)
		}
	}
	written, err := os.ReadFile(filepath.Join(dir, "docs", "architecture.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(page), "\n## What an analysis may cost\n")
	if _, rest, _ := strings.Cut(string(written), "\n## What an analysis may cost\n"); rest != after {
		t.Error("the page below the tables has changed")
	}
}
