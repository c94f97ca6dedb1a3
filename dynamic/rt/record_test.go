package rt_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/interlock-go/interlock/dynamic/evidence"
)

// A process begins its evidence with a start and a stats record, so that a
// crash at any time leaves counters behind.
func TestFirstRecords(t *testing.T) {
	r := (&run{program: "cleanExit", seed: 7}).do(t)
	if len(r.records) < 2 || r.records[0].Kind != evidence.Start || r.records[1].Kind != evidence.Stats {
		t.Fatalf("records begin with %+v", r.records)
	}
	for _, rec := range r.records {
		if rec.Run != 1 || rec.Seed != 7 || rec.PID == 0 {
			t.Errorf("record %+v, want run 1, seed 7 and a pid", rec)
		}
	}
}

func TestStats(t *testing.T) {
	s := (&run{program: "cleanWaitGroup", seed: 1}).do(t).stats()
	if s.Counters.Slow != 4 || s.Counters.Windows == 0 || s.Counters.DelayNS == 0 {
		t.Errorf("counters %+v, want 4 slow accesses and some windows", s.Counters)
	}
	for _, want := range []uint32{1, 2, 3, 4} {
		if !contains(s.Reached, want) {
			t.Errorf("reached %v lacks site %d", s.Reached, want)
		}
	}
	for _, id := range s.Armed {
		if !contains(s.Reached, id) {
			t.Errorf("site %d is armed but not reached", id)
		}
	}
}

// Accesses that two goroutines make to one place, here ordered by a mutex, are
// named as near; those that one goroutine makes are not.
func TestNear(t *testing.T) {
	if s := (&run{program: "cleanMutex", seed: 1}).do(t).stats(); !contains(s.Near, 1) {
		t.Errorf("near %v lacks site 1", s.Near)
	}
	if s := (&run{program: "cleanManySites", seed: 1}).do(t).stats(); len(s.Near) != 0 {
		t.Errorf("near %v, want none", s.Near)
	}
}

func contains(ids []uint32, id uint32) bool {
	for _, have := range ids {
		if have == id {
			return true
		}
	}
	return false
}

// Several processes append to one file, each under its own pid.
func TestChildProcesses(t *testing.T) {
	r := (&run{program: "cleanChild", seed: 1}).do(t)
	pids := map[int]bool{}
	for _, rec := range r.records {
		if rec.Kind == evidence.Start {
			pids[rec.PID] = true
		}
	}
	if len(pids) != 3 {
		t.Errorf("%d processes left evidence, want 3", len(pids))
	}
}

// A line that another process left torn costs no other record.
func TestTornLine(t *testing.T) {
	out := filepath.Join(t.TempDir(), "evidence")
	if err := os.WriteFile(out, []byte(`{"v":1,"kind":"sta`), 0o644); err != nil {
		t.Fatal(err)
	}
	r := (&run{program: "cleanExit", seed: 1, out: out}).do(t)
	if r.bad != 1 || len(r.records) < 2 || r.records[0].Kind != evidence.Start {
		t.Errorf("%d bad lines and %d records, want 1 and the start record first", r.bad, len(r.records))
	}
}

// A killed process leaves whole lines only.
func TestKilled(t *testing.T) {
	binary, err := buildWatch()
	if err != nil {
		t.Fatal(err)
	}
	r := &run{program: "raceCounter", out: filepath.Join(t.TempDir(), "evidence")}
	cmd := monitored(t, binary, "raceLate", r.out)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	waitFor(t, func() bool {
		data, _ := os.ReadFile(r.out)
		return bytes.Count(data, []byte("stats")) >= 3
	})
	cmd.Process.Kill()
	cmd.Wait()
	r.read(t)
	if r.bad != 0 || len(r.records) < 4 {
		t.Errorf("%d bad lines, %d records; want 0 and at least 4", r.bad, len(r.records))
	}
}

// waitFor waits until ok, or fails after a while.
func waitFor(t *testing.T, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !ok(); {
		if time.Now().After(deadline) {
			t.Fatal("waited in vain")
		}
		time.Sleep(time.Millisecond) // another process has to act
	}
}

// Without INTERLOCK_OUT the engine sleeps.
func TestAsleep(t *testing.T) {
	r := (&run{program: "raceCounter", env: []string{"INTERLOCK_OUT="}}).do(t)
	r.expectClean(t)
	if len(r.records) != 0 {
		t.Errorf("%d records of a process that was not asked", len(r.records))
	}
}

// A value that makes no sense costs one line on stderr and nothing else.
func TestBadEnvironment(t *testing.T) {
	bad := filepath.Join(t.TempDir(), "bad")
	if err := os.WriteFile(bad, []byte("1 1 -\n2 one -\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, env := range []string{
		"INTERLOCK_RUN=first",
		"INTERLOCK_SEED=-1",
		"INTERLOCK_SITES=",
		"INTERLOCK_SITES=/no/such/file",
		"INTERLOCK_SITES=" + bad,
		"INTERLOCK_KNOWN=1",
		"INTERLOCK_KNOWN=1-one",
		"INTERLOCK_NOISE=prob=1001",
		"INTERLOCK_NOISE=prob",
		"INTERLOCK_NOISE=volume=3",
		"INTERLOCK_NOISE=7",
		"INTERLOCK_NOISE=random:1",
		"INTERLOCK_NOISE=random,variable:1",
		"INTERLOCK_NOISE=variable",
		"INTERLOCK_NOISE=variable:",
		"INTERLOCK_NOISE=variable:1,,2",
		"INTERLOCK_NOISE=variable:2", // the table has no group 2
		"INTERLOCK_NOISE=location:1,location:2",
		"INTERLOCK_NOISE=location:1,2000",
		"INTERLOCK_NOISE=location:1 2",
		"INTERLOCK_OUT=relative/path",
		"INTERLOCK_OUT=/no/such/folder/evidence",
	} {
		t.Run(env, func(t *testing.T) {
			r := (&run{program: "raceCounter", env: []string{env}}).do(t)
			name, _, _ := strings.Cut(env, "=")
			if r.code != 0 || strings.Count(r.stderr, "\n") != 1 ||
				!strings.HasPrefix(r.stderr, "interlock: "+name) || !strings.HasSuffix(r.stderr, "; nothing is monitored\n") {
				t.Errorf("code %d, stderr %q; want 0 and one line about %s", r.code, r.stderr, name)
			}
			if len(r.races()) != 0 {
				t.Error("a race was recorded")
			}
		})
	}
}

// Records that cannot be written are reported once, and counted.
func TestUnwritable(t *testing.T) {
	out := filepath.Join(t.TempDir(), "evidence")
	binary, err := buildWatch()
	if err != nil {
		t.Fatal(err)
	}
	cmd := monitored(t, binary, "raceLate", out)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	waitFor(t, func() bool { data, _ := os.ReadFile(out); return len(data) > 0 })
	if err := os.Remove(out); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(out, 0o755); err != nil { // nobody, not even root, writes to a folder
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	if got := stderr.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, "cannot write evidence") {
		t.Errorf("stderr %q, want one line", got)
	}
}

// A pair that is known makes no more noise than it must.
func TestKnown(t *testing.T) {
	fresh := (&run{program: "raceCounter", seed: 3}).do(t).stats()
	known := (&run{program: "raceCounter", seed: 3, env: []string{"INTERLOCK_KNOWN=1-1"}}).do(t).stats()
	if fresh.Counters.Windows == 0 {
		t.Error("no window at an unknown pair")
	}
	if known.Counters.Windows != 0 {
		t.Errorf("%d windows at a known pair in a program of a millisecond, want 0", known.Counters.Windows)
	}
}

// Noise keeps to its budget: 200 ms and so many percent of the plain time.
func TestBudget(t *testing.T) {
	wall := func(seed int, noise string, check func(*evidence.Counters)) time.Duration {
		r := (&run{program: "cleanManySites", seed: seed, env: []string{"INTERLOCK_NOISE=" + noise}}).do(t)
		check(r.stats().Counters)
		return r.wall
	}
	for noise, times := range map[string]time.Duration{"budget=0": 1, "budget=200,strength=3000": 3} {
		t.Run(noise, func(t *testing.T) {
			// A loaded machine is slow at times: the best of some runs, in pairs, counts.
			plain, took := time.Hour, time.Hour
			for seed := range 10 {
				plain = min(plain, wall(seed, "prob=0", func(c *evidence.Counters) {
					if c.Windows != 0 {
						t.Errorf("%d windows with prob=0", c.Windows)
					}
				}))
				took = min(took, wall(seed, noise, func(c *evidence.Counters) {
					if c.Windows == 0 || c.OverBudget == 0 {
						t.Errorf("counters %+v, want windows held and some refused", *c)
					}
				}))
				if took <= times*plain+350*time.Millisecond {
					return
				}
			}
			t.Errorf("took %v where the plain run takes %v, want at most %d times that and 350ms", took, plain, times)
		})
	}
}

// Each of AtomRace's heuristics makes noise at its own sites and nowhere else.
// The sites of cleanManySites are 1 to 1000; 1 and 2 are of one variable.
func TestHeuristics(t *testing.T) {
	for noise, want := range map[string][]uint32{
		"location:3,900,prob=1000": {3, 900},
		"variable:1,900":           {1, 2, 900},
		"prob=0,location:3":        nil,
	} {
		s := (&run{program: "cleanManySites", seed: 5, env: []string{"INTERLOCK_NOISE=" + noise}}).do(t).stats()
		if !slices.Equal(s.Armed, want) {
			t.Errorf("%s: noise at %v, want %v", noise, s.Armed, want)
		}
	}
	const half = "INTERLOCK_NOISE=random,prob=500,strength=100,budget=100000" // to spare
	s := (&run{program: "cleanManySites", seed: 5, env: []string{half}}).do(t).stats()
	again := (&run{program: "cleanManySites", seed: 5, env: []string{half}}).do(t).stats()
	other := (&run{program: "cleanManySites", seed: 6, env: []string{half}}).do(t).stats()
	if n := len(s.Armed); n < 400 || n > 600 {
		t.Errorf("noise at %d of 1000 sites with probability 500", n)
	}
	if !slices.Equal(s.Armed, again.Armed) || slices.Equal(s.Armed, other.Armed) {
		t.Error("noise must follow from the seed")
	}
}
