package detect

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/interlock-go/interlock/cmd/internal/lab/internal/testbin"
)

// The programs of testdata/detect are what the tool takes: each with a clean
// twin and a comment.
func TestClasses(t *testing.T) {
	classes, err := findClasses(filepath.Join("..", "..", "..", "..", "testdata", "detect"), "")
	if err != nil {
		t.Fatal(err)
	}
	titles := map[string]bool{}
	for _, c := range classes {
		titles[c.title] = true
	}
	for _, want := range []string{
		"Hot counter", "Cold single write", "Flag", "Map header", "Slice element", "Captured variable", "Publication",
		"Locked writer, unlocked reader", "Atomic against plain", "Struct copy", "Partial overlap",
	} {
		if !titles[want] {
			t.Errorf("no program shows %q", want)
		}
	}
	if one, err := findClasses(filepath.Join("..", "..", "..", "..", "testdata", "detect"), "HotCounter"); err != nil ||
		len(one) != 1 {
		t.Errorf("matching HotCounter returns %v, %v", one, err)
	}
}

func TestClassesWithoutTwin(t *testing.T) {
	for name, src := range map[string]string{
		"needs a clean twin": "// Title: about.\nfunc TestRaceX() {}",
		"and a comment":      "func TestRaceX() {}\nfunc TestNoRaceX() {}",
		"no function":        "func TestX() {}",
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "x_test.go"), []byte("package x\n\n"+src+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := findClasses(dir, ""); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%q: error %v, want one about %q", src, err, name)
		}
	}
}

func TestTable(t *testing.T) {
	classes := []class{{title: "Flag", about: "what happens", watch: 19, race: 20, alarms: 0}}
	text := classTable(classes, &testbin.Race{}, options{runs: 20, clean: 200})
	if !strings.Contains(text, "| Flag | what happens | 19 | 20 | 0 |\n") {
		t.Errorf("table:\n%s", text)
	}
	text = classTable(classes, &testbin.Race{Missing: "no compiler"}, options{})
	if !strings.Contains(text, "| 19 | - | 0 |\n") || !strings.Contains(text, "not measured: no compiler") {
		t.Errorf("a missing detector is not named:\n%s", text)
	}
}
