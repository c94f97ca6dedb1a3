package rt_test

import (
	"os"
	"strings"
	"testing"
)

// Each racy program is caught in most of its runs. The numbers are logged;
// what fails the test leaves room for a loaded machine.
func TestRace(t *testing.T) {
	for _, name := range programs(t, "race") {
		t.Run(name, func(t *testing.T) {
			hits, n := 0, runs(t)
			if name == "raceAmongMany" {
				n = min(n, 3) // slow
			}
			for seed := range n {
				r := (&run{program: name, seed: seed}).do(t)
				if !strings.HasPrefix(r.stderr, "fatal error: concurrent map ") { // what a racy map may come to
					r.expectClean(t)
				}
				if checkRaces(t, r) {
					hits++
				}
			}
			t.Logf("caught in %d of %d runs", hits, n)
			if hits*10 < n*6 {
				t.Errorf("caught in %d of %d runs, want at least 6 of 10", hits, n)
			}
		})
	}
}

// checkRaces checks what a run recorded and reports whether it caught the race.
func checkRaces(t *testing.T, r *run) bool {
	t.Helper()
	seen := map[[2]uint32]bool{}
	for _, rec := range r.races() {
		a, b := rec.A, rec.B
		pair := [2]uint32{min(a.Site, b.Site), max(a.Site, b.Site)}
		if pair[0] != 1 || pair[1] > 2 {
			t.Errorf("race of sites %d and %d, which the program does not have", a.Site, b.Site)
		}
		if seen[pair] {
			t.Errorf("sites %v are recorded twice", pair)
		}
		seen[pair] = true
		if a.Addr+a.Size <= b.Addr || b.Addr+b.Size <= a.Addr {
			t.Errorf("[%#x, +%d) and [%#x, +%d) do not overlap", a.Addr, a.Size, b.Addr, b.Size)
		}
		for _, side := range []string{a.Stack, b.Stack} {
			if !strings.HasPrefix(side, "goroutine ") || !strings.Contains(side, "/watch/racy.go:") {
				t.Errorf("a stack does not lead to the program:\n%s", side)
			}
		}
		if !strings.Contains(a.Stack, "created by ") && !strings.Contains(b.Stack, "created by ") {
			t.Error("no side says who created its goroutine")
		}
		if rec.Count == 0 || rec.Run != 1 || rec.Seed != uint64(r.seed) || rec.PID == 0 {
			t.Errorf("race record has count %d, run %d, seed %d, pid %d", rec.Count, rec.Run, rec.Seed, rec.PID)
		}
	}
	return len(seen) > 0
}

// The clean twins are silent, with the widest windows and all the noise.
func TestNoRace(t *testing.T) {
	for _, name := range programs(t, "clean") {
		t.Run(name, func(t *testing.T) {
			n := runs(t)
			if os.Getenv("INTERLOCK_TEST_RUNS") == "" && os.Getenv("INTERLOCK_TEST_LONG") == "" {
				n = min(n, 8)
			}
			if name == "cleanManyGoroutines" || name == "cleanManySites" {
				n = min(n, 3) // slow
			}
			for seed := range n {
				(&run{program: name, seed: seed, env: []string{widest}}).do(t).expectSilence(t)
			}
			(&run{program: name, env: []string{widest, "GOMAXPROCS=1"}}).do(t).expectSilence(t)
		})
	}
}

const widest = "INTERLOCK_NOISE=prob=1000,strength=4000,budget=500"

// expectSilence fails if a clean program did not end as it should, or a race
// or a lost record was counted.
func (r *run) expectSilence(t *testing.T) {
	t.Helper()
	for _, rec := range r.races() {
		t.Errorf("seed %d: false race of sites %d and %d:\n%s\n%s", r.seed, rec.A.Site, rec.B.Site, rec.A.Stack, rec.B.Stack)
	}
	switch r.program {
	case "cleanDeadlock":
		if r.code != 2 || !strings.Contains(r.stderr, "all goroutines are asleep") {
			t.Errorf("a deadlock ends with code %d and %q", r.code, r.stderr)
		}
	case "cleanExit":
		if r.code != 3 {
			t.Errorf("exit code %d, want 3", r.code)
		}
	default:
		r.expectClean(t)
	}
	if s := r.stats(); s.Counters == nil || s.Counters.BadSite != 0 || s.Counters.NotWritten != 0 {
		t.Errorf("seed %d: counters %+v", r.seed, s.Counters)
	}
}

// One processor is enough.
func TestOneProcessor(t *testing.T) {
	for _, name := range []string{"raceCounter", "raceColdWriteRead", "raceMap", "raceLockedWriter"} {
		t.Run(name, func(t *testing.T) {
			hits, n := 0, runs(t)
			for seed := range n {
				r := (&run{program: name, seed: seed, env: []string{"GOMAXPROCS=1"}}).do(t)
				r.expectClean(t)
				if checkRaces(t, r) {
					hits++
				}
			}
			t.Logf("caught in %d of %d runs", hits, n)
			if hits*10 < n*6 {
				t.Errorf("caught in %d of %d runs, want at least 6 of 10", hits, n)
			}
		})
	}
}
