package sections

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/interlock-go/interlock/analyzers/finding"
)

// The pairs of testdata/sections are what the tool takes, over all patterns.
func TestPairs(t *testing.T) {
	pairs, err := findPairs(filepath.Join("..", "..", "..", "..", "testdata", "sections"), "")
	if err != nil {
		t.Fatal(err)
	}
	if len(pairs) < 25 {
		t.Errorf("%d pairs, want at least 25", len(pairs))
	}
	codes := map[finding.Code]int{}
	for _, p := range pairs {
		codes[p.want]++
		if !p.want.Known() || p.about == "" {
			t.Errorf("%s: code %s, about %q", p.name, p.want, p.about)
		}
	}
	for _, code := range []finding.Code{finding.LoadAndStore, finding.TestAndUse, finding.Interleaved} {
		if codes[code] == 0 {
			t.Errorf("no pair for %s", code)
		}
	}
}

func TestPairsThatAreNone(t *testing.T) {
	for want, files := range map[string]map[string]string{
		"code that is expected": {"violating/a.go": "// Package a is wrong.\n" +
			"package a // want IL2001 entry // want IL2001 end", "violating/a_test.go": "package a"},
		"the two halves": {
			"violating/a.go":      "// Package a is wrong. IL2001.\npackage a // want IL2001 entry",
			"violating/a_test.go": "package a",
		},
		"and a test": {"violating/a.go": "// Package a is wrong. IL2001.\npackage a"},
		"fixed needs a package": {"violating/a.go": "// Package a is wrong. IL2001.\npackage a\n// want IL2001 entry\n" +
			"// want IL2001 end", "violating/a_test.go": "package a"},
	} {
		dir := t.TempDir()
		for name, text := range files {
			file := filepath.Join(dir, "pair", filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(text+"\n"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := findPairs(dir, ""); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one about %q", err, want)
		}
	}
}

// A finding counts with the code and both halves, in whatever role they are.
func TestShows(t *testing.T) {
	p := pair{want: finding.TestAndUse, halves: []place{{"a.go", 3}, {"a.go", 9}}}
	at := func(line int) finding.Position { return finding.Position{File: "x/violating/a.go", Line: line} }
	call := at(3)
	f := &finding.Finding{
		Code: finding.TestAndUse, Accesses: []finding.Access{{Position: at(9)}},
		Section: &finding.Section{Entry: at(20), EntryCall: &call, End: at(9)},
	}
	if !p.showsBug(f) {
		t.Error("the call that leads to the entry is not taken for it")
	}
	f.Section.EntryCall = nil
	if p.showsBug(f) {
		t.Error("a finding with one half is taken")
	}
	f.Code, f.Section.EntryCall = finding.LoadAndStore, &call
	if p.showsBug(f) {
		t.Error("a finding with another code is taken")
	}
}

// Wrong programs are confirmed with their code and both halves, right ones are not:
// a few runs of a few pairs. `make sections` makes many of all.
func TestMeasure(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long")
	}
	bin := filepath.Join(t.TempDir(), "interlock")
	if out, err := exec.Command("go", "build", "-o", bin, "../../../interlock").CombinedOutput(); err != nil {
		t.Fatalf("building interlock: %v\n%s", err, out)
	}
	dir := filepath.Join("..", "..", "..", "..", "testdata", "sections")
	var pairs []pair
	for _, name := range []string{
		"bank", "declared-file", "load-store-split", "test-use-get-or-create", "test-use-release",
	} {
		p, err := readPair(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		pairs = append(pairs, p)
	}
	if err := measure(t.Context(), options{bin: bin, dir: dir, runs: 5, clean: 5}, pairs); err != nil {
		t.Fatal(err)
	}
	for _, p := range pairs {
		if p.watch < 2 || p.alarms != 0 || p.suspected != 0 || p.isWrong() != "" {
			t.Errorf("%s: confirmed in %d of 5 runs, want 2; of the right one %d suspected and %d confirmed, want none; %s",
				p.name, p.watch, p.suspected, p.alarms, p.isWrong())
		}
	}
}

// The numbers are those that the command prints.
func TestReadRefinement(t *testing.T) {
	const out = "interlock: 33 candidate sections; seeds from 1\n" +
		"interlock: 6 runs in 1m5s, 5 of them correct; the oracle rejected a planted violation (try 2)\n" +
		"interlock: 36 ends of invariants: 2 dropped, 13 unobserved, 21 left, in 19 sections\n"
	var r refinement
	if err := r.readNumbers(out); err != nil {
		t.Fatal(err)
	}
	if r.runs != 6 || r.correct != 5 || r.plants != 2 || r.ends != 36 || r.dropped != 2 || r.unseen != 13 ||
		r.left != 21 ||
		r.sections != 19 ||
		!r.settled {
		t.Errorf("%+v", r)
	}
	if err := r.readNumbers("interlock: something else"); err == nil {
		t.Error("no numbers, no error")
	}
}

func TestDocument(t *testing.T) {
	pairs := []pair{
		{
			name:    "bank",
			about:   "what is wrong.",
			want:    finding.TestAndUse,
			static:  true,
			watch:   20,
			pattern: "R-w-W",
			harmful: true,
		},
	}
	refined := []refinement{
		{
			module:   module{path: "m", version: "v1", oracle: "go test"},
			ends:     9,
			dropped:  4,
			unseen:   2,
			left:     3,
			sections: 3,
			runs:     7,
			correct:  6,
			settled:  true,
		},
	}
	text := document(options{runs: 20, clean: 200}, pairs, refined)
	for _, want := range []string{
		"| bank | what is wrong. | IL2002 | yes | 20 | R-w-W | yes | 0 | 0, 0 |\n",
		"Of 1 wrong programs 1 are suspected, 1 confirmed; the race detector is silent about 1. Of the right ones 0 are " +
			"suspected, 0 confirmed.",
		"| m v1 | `go test` | 0 | 9 | 4 | 2 | 3 | 3 | 7 | 6 | yes | 0s |\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the document lacks %q:\n%s", want, text)
		}
	}
}
