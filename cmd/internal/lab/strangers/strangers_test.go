package strangers

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/interlock-go/interlock/analyzers/finding"
)

// one is a confirmed finding at places.
func one(code finding.Code, places ...string) confirmed {
	return confirmed{ID: "il-0", Code: code, Variable: "example.com/m.T.f", Places: places, Hits: 2}
}

// tried is a module of which a run has confirmed something.
func tried(found ...confirmed) *result {
	return &result{
		Module: "example.com/m", Version: "v1.0.0", Plain: &step{},
		Check: &step{Exit: 1, CPU: 3, Counts: map[string]int{"suspected IL1001": 2}},
		Test:  &step{Exit: 1, CPU: 20, Confirmed: found},
	}
}

func TestCompareSaysWhatIsNewAndGone(t *testing.T) {
	last := &results{Modules: []*result{tried(one("IL1001", "a.go:1", "b.go:2"))}}
	m := tried(one("IL1000", "c.go:3"))
	m.Check = &step{Exit: 3, CPU: 100}
	now := &results{Modules: []*result{m}}
	want := []string{
		"example.com/m: check ends in 3, before in 1",
		"example.com/m: check takes 100.0 CPU-s, before 3.0",
		"example.com/m: IL1000 at c.go:3 is confirmed, before it was not",
		"example.com/m: IL1001 at a.go:1, b.go:2 was confirmed, now it is not",
		"example.com/m: 0 suspected, before 2",
	}
	if got := compare(last, now); !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if got := compare(last, last); got != nil {
		t.Errorf("nothing has changed, got %q", got)
	}
}

func TestPromises(t *testing.T) {
	read := verdicts{
		{"example.com/m@v1.0.0", "a.go:1, b.go:2", "IL1001", "", benign, "a hint"},
		{"example.com/m@v1.0.0", "c.go:3", "IL1000", "", falsely, "ordered"},
		{"example.com/m@v1.0.0", "panic: read", "", "", inTest, "the test's own"},
	}
	m := tried(one("IL1001", "a.go:1", "b.go:2"), one("IL1000", "c.go:3"), one("IL2001", "d.go:4"))
	m.Check.Over, m.Plain.Changed, m.Test.Changed, m.Test.Faults = true, []string{
		"data.db",
	}, []string{
		"data.db", "go.sum",
	}, []string{
		"panic: read", "panic: x",
	}
	want := []string{
		"example.com/m v1.0.0: check hangs",
		"example.com/m v1.0.0: test changes the tree: go.sum",
		"example.com/m v1.0.0: test: panic: x",
		"example.com/m v1.0.0: IL1000 at c.go:3 is confirmed falsely",
		"example.com/m v1.0.0: nobody has read IL2001 at d.go:4",
	}
	if got := promises(&results{Modules: []*result{m}}, read); !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if got := promises(&results{Modules: []*result{tried(one("IL1001", "a.go:1", "b.go:2"))}}, read); got != nil {
		t.Errorf("all is read and true, got %q", got)
	}
}

func TestVerdictsAreRead(t *testing.T) {
	name := filepath.Join(t.TempDir(), "verdicts.json")
	write := func(verdict string) {
		text := `{"verdicts": [{"module": "example.com/m@v1.0.0", "places": "a.go:1, b.go:2", "code": "IL1001",
			"variable": "T.f", "verdict": "` + verdict + `", "why": "nothing orders them"}]}`
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(harmful)
	got, err := readVerdicts(name)
	want := verdicts{{"example.com/m@v1.0.0", "a.go:1, b.go:2", "IL1001", "T.f", harmful, "nothing orders them"}}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %+v, error %v; want %+v", got, err, want)
	}
	write("perhaps")
	if _, err := readVerdicts(name); err == nil {
		t.Error("a verdict that is none is taken")
	}
}

// All verdicts are on modules that are pinned.
func TestVerdictsNamePinnedModules(t *testing.T) {
	all, err := readVerdicts("verdicts.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range all {
		if !slices.ContainsFunc(strangers, func(m stranger) bool { return m.path+"@"+m.version == v.Module }) {
			t.Errorf("%s is not pinned", v.Module)
		}
	}
}

func TestModulesAreManyAndEachOnce(t *testing.T) {
	seen := map[string]bool{}
	for _, m := range strangers {
		if seen[m.path] || m.version == "" {
			t.Errorf("%s is there twice, or without version", m.path)
		}
		seen[m.path] = true
		if partly := m.packages != nil || m.flags != nil || m.nested != nil || m.vendor; partly != (m.why != "") {
			t.Errorf("%s: reason %q", m.path, m.why)
		}
	}
	if len(seen) < 40 {
		t.Errorf("%d modules, want 40", len(seen))
	}
}

func TestDocumentJudges(t *testing.T) {
	m := tried(one("IL1001", "a.go:1"), one("IL1000", "c.go:3"))
	m.Test.Failures = []string{"TestX fails"}
	text := render(&results{Machine: "a machine", Modules: []*result{m}},
		verdicts{{"example.com/m@v1.0.0", "a.go:1", "IL1001", "", harmful, "so"}})
	for _, want := range []string{
		"| 1 | 0 | 0 | 0 | 1 | 0 | 0 | 0 | 1 |\n",
		"| example.com/m@v1.0.0 | a.go:1 | IL1001 | example.com/m.T.f | 2 | harmful |\n",
		"| example.com/m@v1.0.0 | c.go:3 | IL1000 | example.com/m.T.f | 2 | **not read** |\n",
		"- example.com/m: TestX fails\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in:\n%s", want, text)
		}
	}
}

func TestBlame(t *testing.T) {
	r := &result{
		Plain: &step{output: []byte("panic: of the test\n")}, Check: &step{},
		Test: &step{output: []byte("panic: of the test\npanic: new\ninterlock: internal error: x\n" +
			"interlock: TestX panicked only under noise\ninterlock: 1 of 5 runs\n")},
	}
	r.findFaults()
	if want := []string{"interlock: internal error: x", "panic: new"}; !slices.Equal(r.Test.Faults, want) ||
		r.Check.Faults != nil {
		t.Errorf("got %q and %q, want %q", r.Test.Faults, r.Check.Faults, want)
	}
}

func TestChecksumsSeeNamesModesAndContents(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "a.go")
	before := map[string]string{}
	for i, step := range []struct {
		change func() error
		want   []string
	}{
		{func() error { return os.WriteFile(file, []byte("a"), 0o644) }, []string{".", "a.go"}},
		{func() error { return os.WriteFile(file, []byte("b"), 0o644) }, []string{"a.go"}},
		{func() error { return os.Chmod(file, 0o600) }, []string{"a.go"}},
		{func() error { return nil }, nil},
		{func() error { return os.Symlink("a.go", filepath.Join(dir, "b.go")) }, []string{"b.go"}},
		{func() error { return os.Rename(file, filepath.Join(dir, "c.go")) }, []string{"a.go", "c.go"}},
	} {
		if err := step.change(); err != nil {
			t.Fatal(err)
		}
		after, err := checksums(dir)
		if got := differing(before, after); err != nil || !slices.Equal(got, step.want) {
			t.Errorf("change %d: %q differ, error %v; want %q", i, got, err, step.want)
		}
		before = after
	}
}

func TestCommandThatTakesTooLongIsEnded(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	// On a busy machine, a process may be ended before its runtime prints stacks.
	var s *step
	for limit := 50 * time.Millisecond; limit < 30*time.Second; limit *= 2 {
		l := &lab{ctx: t.Context(), options: options{limit: limit}, env: []string{"STRANGERS_TEST_HANG=1"}}
		if s, err = l.measureCommand(t.TempDir(), self, nil); err != nil || !s.Over {
			break
		}
		if strings.Contains(string(s.output), "SIGQUIT") {
			return
		}
	}
	t.Errorf("got %+v, error %v", s, err)
}

// TestMain hangs where a test asks for it.
func TestMain(m *testing.M) {
	if os.Getenv("STRANGERS_TEST_HANG") != "" {
		time.Sleep(time.Hour)
	}
	os.Exit(m.Run())
}
