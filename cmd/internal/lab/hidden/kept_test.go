package hidden

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What one command has measured, the next one with the file need not; another number of runs is another measure.
func TestKept(t *testing.T) {
	name := filepath.Join(t.TempDir(), "kept.jsonl")
	one := measure{Test: "TestRaceGap1", Schedule: "auto", Runs: 50}
	other := measure{Test: "TestRaceGap1", Schedule: "pct", Runs: 50}
	for _, m := range []measure{one, other} {
		k, err := openKept(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := k.addResult(m, shown{Shown: 3, First: 2}); err != nil {
			t.Fatal(err)
		}
		k.close()
	}
	k, err := openKept(name)
	if err != nil {
		t.Fatal(err)
	}
	k.close()
	if len(k.of) != 2 || k.of[one].First != 2 || k.of[other].Shown != 3 {
		t.Errorf("kept %v", k.of)
	}
	one.Runs = 10
	if _, known := k.of[one]; known {
		t.Error("10 runs are those of 50")
	}
	if err := os.WriteFile(name, []byte(`{"Test":"TestRa`), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := openKept(name); err == nil {
		t.Error("a damaged file is taken")
	}
}

// Bugs that nobody shows count as more than all runs, and correct programs not at all.
func TestFirsts(t *testing.T) {
	programs := []*program{
		{kind: "Race", shown: []shown{{Shown: 50, First: 1}, {Shown: 9, First: 2}}},
		{kind: "Race", shown: []shown{{}, {Shown: 2, First: 4}}},
		{kind: "Leak", shown: []shown{{}, {Shown: 2, First: 3}}},
		{kind: "Leak", shown: []shown{{}, {}}},
		{kind: clean, shown: []shown{{}, {}}},
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
