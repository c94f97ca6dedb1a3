package hidden

import (
	"os"
	"path/filepath"
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
