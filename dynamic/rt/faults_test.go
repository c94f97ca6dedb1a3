package rt_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/interlock-go/interlock/dynamic/evidence"
)

// However a program ends, what was caught is in the evidence, and nothing in
// it is torn.
func TestAbruptEnds(t *testing.T) {
	ends := map[string]struct {
		code   int // -1: a signal
		stderr string
	}{
		"faultExit":          {7, ""},
		"faultFatal":         {1, "fatal"},
		"faultPanic":         {2, "panic: panic"},
		"faultStackOverflow": {2, "stack overflow"},
		"faultMapWrites":     {2, "concurrent map writes"},
		"faultSignal":        {-1, ""},
		"faultKilled":        {-1, ""},
		"faultOutOfMemory":   {2, "out of memory"},
	}
	for _, name := range programs(t, "fault") {
		end, ok := ends[name]
		if !ok {
			continue
		}
		t.Run(name, func(t *testing.T) {
			hits := 0
			for seed := range 5 {
				r := (&run{program: name, seed: seed}).do(t)
				if r.code != end.code || !strings.Contains(r.stderr, end.stderr) || strings.Contains(r.stderr, "interlock: ") {
					t.Errorf("seed %d: code %d, want %d; stderr %.300q", seed, r.code, end.code, r.stderr)
				}
				if r.bad != 0 || len(r.records) < 2 || r.records[0].Kind != evidence.Start {
					t.Errorf("seed %d: %d bad lines, %d records", seed, r.bad, len(r.records))
				}
				if s := r.stats(); s.Counters == nil || s.Counters.NotWritten != 0 {
					t.Errorf("seed %d: last counters %+v", seed, s.Counters)
				}
				if checkFaultRaces(r) {
					hits++
				}
			}
			if hits < 4 {
				t.Errorf("the race before the end is in the evidence of %d of 5 runs", hits)
			}
		})
	}
}

// checkFaultRaces reports whether r recorded the race of site 1 with itself.
func checkFaultRaces(r *run) bool {
	for _, rec := range r.races() {
		sites := rec.A.Site == 1 && rec.B.Site == 1
		if sites && strings.Contains(rec.A.Stack, "/watch/") && strings.Contains(rec.B.Stack, "/watch/") {
			return true
		}
	}
	return false
}

// Hundreds of short-lived processes append to one file, several at a time, and
// no record is torn or lost.
func TestManyChildren(t *testing.T) {
	const children = 300
	r := (&run{program: "faultChildren", seed: 1}).do(t)
	r.expectClean(t)
	begun, counted := 0, map[int]bool{}
	for _, rec := range r.records {
		switch {
		case rec.Kind == evidence.Start:
			begun++
		case rec.Kind == evidence.Stats && rec.Counters.Slow == 4: // the last of a child
			counted[rec.PID] = true
		}
	}
	if begun != children+1 || len(counted) != children {
		t.Errorf("%d processes began, want %d; %d left counters, want %d", begun, children+1, len(counted), children)
	}
}

// A disk that fills up while the program runs costs records, which are counted
// once there is room again, and told.
func TestFullDisk(t *testing.T) {
	const full = "/dev/full"
	if _, err := os.Stat(full); err != nil {
		t.Skip("this system has no", full)
	}
	binary, err := buildWatch()
	if err != nil {
		t.Fatal(err)
	}
	text, err := monitored(t, binary, "raceCounter", full).CombinedOutput()
	if err != nil || !bytes.HasPrefix(text, []byte("interlock: INTERLOCK_OUT cannot be appended to")) {
		t.Errorf("full from the start: %v, output %q", err, text)
	}
	out := filepath.Join(t.TempDir(), "evidence")
	cmd := monitored(t, binary, "raceLate", out)
	stderr, err := os.Create(filepath.Join(t.TempDir(), "stderr"))
	if err != nil {
		t.Fatal(err)
	}
	defer stderr.Close()
	cmd.Stderr = stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	waitFor(t, func() bool { data, _ := os.ReadFile(out); return len(data) > 0 })
	swap(t, func(link string) error { return os.Symlink(full, link) }, out)
	told := func() string { data, _ := os.ReadFile(stderr.Name()); return string(data) }
	waitFor(t, func() bool { return told() != "" })
	swap(t, func(link string) error { return os.WriteFile(link, nil, 0o644) }, out)
	if err := stdin.Close(); err != nil { // the program ends, with room for its last records
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	if got := told(); strings.Count(got, "\n") != 1 || !strings.Contains(got, "cannot write evidence") {
		t.Errorf("stderr %q, want one line", got)
	}
	r := &run{out: out}
	r.read(t)
	if s := r.stats(); s.Counters == nil || s.Counters.NotWritten == 0 || r.bad != 0 {
		t.Errorf("%d bad lines, last counters %+v, want records counted as not written", r.bad, s.Counters)
	}
}

// swap puts what make makes in the place of path at once.
func swap(t *testing.T, create func(string) error, path string) {
	t.Helper()
	if err := create(path + ".new"); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}

// A file that may grow no more keeps its whole records, at most one torn, and
// the program goes on.
func TestFileSizeLimit(t *testing.T) {
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("this system has no shell to set a limit with")
	}
	binary, err := buildWatch()
	if err != nil {
		t.Fatal(err)
	}
	r := &run{out: filepath.Join(t.TempDir(), "evidence")}
	cmd := monitored(t, shell, "-c", r.out)
	cmd.Args = append(cmd.Args, `ulimit -f 8 && exec "$0" cleanManySites`, binary)
	text, err := cmd.CombinedOutput()
	if err != nil || strings.Count(string(text), "\n") != 1 || !strings.Contains(string(text), "cannot write evidence") {
		t.Errorf("%v, output %q, want one line", err, text)
	}
	if r.read(t); r.bad > 1 || len(r.records) < 3 {
		t.Errorf("%d bad lines, %d records", r.bad, len(r.records))
	}
}
