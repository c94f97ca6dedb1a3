package hidden

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/interlock-go/interlock/analyzers/finding"
)

// corpus returns the folder of a corpus.
func corpus(name string) string { return filepath.Join("..", "..", "..", "..", "testdata", name) }

// The three corpora have their programs, and those of two of them a correct twin each.
func TestFindPrograms(t *testing.T) {
	for name, least := range map[string]int{"hidden": 60, "detect": 20, "sections": 50} {
		programs, err := findPrograms(corpus(name), "")
		if err != nil {
			t.Fatal(err)
		}
		clean, bugs := 0, map[string]bool{}
		for _, p := range programs {
			if p.isClean() {
				clean++
			} else {
				bugs[strings.Join(p.codes, " ")] = true
			}
		}
		if len(programs) < least {
			t.Errorf("%s: %d programs, want at least %d", name, len(programs), least)
		}
		if name != "hidden" && 2*clean != len(programs) {
			t.Errorf("%s: %d of %d programs are correct, want half", name, clean, len(programs))
		}
		for _, code := range []finding.Code{finding.LoadAndStore, finding.TestAndUse, finding.Interleaved} {
			if name == "sections" && !bugs[string(code)] {
				t.Errorf("%s: no program with %s", name, code)
			}
		}
	}
	programs, err := findPrograms(corpus("detect"), "HotCounter")
	if err != nil || len(programs) != 2 || programs[0].title != "Hot counter: a field is counted up in two loops" {
		t.Errorf("%v, %v; want TestRaceHotCounter and its twin", programs, err)
	}
}

// Programs that say nothing of their bug are refused.
func TestNoPrograms(t *testing.T) {
	const wrong = "// Package a is wrong. IL2001.\npackage a // want IL2001 entry // want IL2001 end"
	for want, files := range map[string]map[string]string{
		"has no comment": {"x_test.go": "package x\n\nfunc TestRaceX() {}\nfunc TestNoRaceX() {}"},
		"nothing of the": {"x_test.go": "package x\n\nfunc TestX() {}"},
		"no test":        {"x.go": "package x"},
		"code that is":   {"p/violating/a.go": "// Package a is wrong.\npackage a", "p/violating/a_test.go": "package a"},
		"the two halves": {"p/violating/a.go": wrong[:len(wrong)-20], "p/violating/a_test.go": "package a"},
		"and a test":     {"p/violating/a.go": wrong},
		"fixed needs a p": {"p/violating/a.go": strings.Replace(wrong, " // want IL2001 end", "\n// want IL2001 end", 1),
			"p/violating/a_test.go": "package a"},
	} {
		dir := t.TempDir()
		for name, text := range files {
			file := filepath.Join(dir, filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(text+"\n"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := findPrograms(dir, ""); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one about %q", err, want)
		}
	}
}

// A finding counts with the code and both halves of a section, in whatever role they are.
func TestIsBug(t *testing.T) {
	p := &program{codes: []string{"IL2002"}, halves: []place{{"a.go", 3}, {"a.go", 9}}}
	at := func(line int) finding.Position { return finding.Position{File: "x/violating/a.go", Line: line} }
	call := at(3)
	f := &finding.Finding{
		Code: finding.TestAndUse, Status: finding.Confirmed, Accesses: []finding.Access{{Position: at(9)}},
		Section: &finding.Section{Entry: at(20), EntryCall: &call, End: at(9)},
	}
	if !p.isBug(f) {
		t.Error("the call that leads to the entry is not taken for it")
	}
	f.Section.EntryCall = nil
	if p.isBug(f) {
		t.Error("a finding with one half is taken")
	}
	f.Code, f.Section.EntryCall = finding.LoadAndStore, &call
	if p.isBug(f) {
		t.Error("a finding with another code is taken")
	}
	f.Code, f.Status = finding.TestAndUse, finding.Suspected
	if p.isBug(f) {
		t.Error("a suspicion is taken")
	}
}

// Bugs that no run shows count as more than all runs, and correct programs not at all.
func TestFirsts(t *testing.T) {
	bug := []string{"IL1"}
	programs := []*program{
		{codes: bug, shown: []shown{{Shown: 50, First: 1}, {Shown: 9, First: 2}}},
		{codes: bug, shown: []shown{{}, {Shown: 2, First: 4}}},
		{codes: bug, shown: []shown{{}, {Shown: 2, First: 3}}},
		{codes: bug, shown: []shown{{}, {}}},
		{shown: []shown{{}, {}}},
	}
	text := firsts(programs, options{runs: 50, schedules: []string{plain, "auto"}})
	for _, row := range []string{
		"| all, 4 | more than 50, 3 not shown | 4, 1 not shown |",
		"at most one run in ten, 3 | more than 50, 3 not shown | 4, 1 not shown |",
	} {
		if !strings.Contains(text, row) {
			t.Errorf("no row %q in\n%s", row, text)
		}
	}
}

// Programs with a split section are confirmed with their code and both halves, their twins are not: a few runs of a
// few pairs. `make sections` makes many of all. Pauses of milliseconds show less where other tests have the processors,
// so a program that is shown too seldom has more tries; a false alarm in any of them is one.
func TestPairsAreShown(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long")
	}
	t.Chdir(filepath.Join("..", "..", "..", ".."))
	o := options{dir: filepath.Join("testdata", "sections"), runs: 5, clean: 5}
	var programs []*program
	for _, name := range []string{
		"bank", "declared-file", "load-store-split", "test-use-get-or-create", "test-use-release",
	} {
		pair, err := readPair(filepath.Join(o.dir, name))
		if err != nil {
			t.Fatal(err)
		}
		programs = append(programs, pair...)
	}
	b := newBuilds(o.dir, t.TempDir(), programs)
	defer b.close()
	for _, p := range programs {
		const tries = 6
		for try := 1; ; try++ {
			s, err := p.measure(t.Context(), b, "guided", o)
			if err != nil {
				t.Fatal(err)
			}
			if s.Alarms != 0 {
				t.Errorf("%s: %d false alarms", p, s.Alarms)
			}
			if p.isClean() || s.Shown >= 2 {
				break
			}
			if try == tries {
				t.Errorf("%s: confirmed in %d of 5 runs, want 2, and in no more of %d tries before", p, s.Shown, tries-1)
				break
			}
		}
	}
}
