package campaign

import (
	"testing"
	"time"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/atomicsets/plan"
	"github.com/interlock-go/interlock/dynamic/build"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/recorded"
	"github.com/interlock-go/interlock/dynamic/campaign/judge"
	"github.com/interlock-go/interlock/dynamic/campaign/run"
)

// A bounded campaign makes the runs that there is time for.
func TestBound(t *testing.T) {
	for _, c := range []struct {
		name               string
		plain, exact, took time.Duration // seconds
		bounded            bool
		runs               int
	}{
		{"short", 1, 3, 1, true, 10},
		{"long", 60, 300, 60, true, 7},      // 930 s, of which 420 s are gone, and 114 s are for replays
		{"slow runs", 60, 70, 180, true, 1}, // 240 s, and 310 s are gone
		{"without exact", 60, 0, 60, true, 6},
		{"hangs without noise", 600, 30, 2, true, 10},
		{"asked for", 60, 300, 60, false, 10},
	} {
		plain, exact, took := c.plain*time.Second, c.exact*time.Second, c.took*time.Second
		cam := &campaign{
			cfg: &settings{Series: Series{Runs: 10}, Bounded: c.bounded}, result: &Result{},
			tests: &recorded.Runner{Spent: plain + exact + took},
			time:  spending{plain: plain, exact: exact},
		}
		cam.bound(1)
		if cam.cfg.Runs != c.runs || cam.result.Unmade != 10-c.runs || cam.result.PerRun != took {
			t.Errorf("%s: %d runs, %d unmade, %v each; want %d runs", c.name, cam.cfg.Runs, cam.result.Unmade,
				cam.result.PerRun, c.runs)
		}
		if cam.replayTime(1) < leastReplay || cam.replayTime(6) < 6*leastTry {
			t.Errorf("%s: no time for replays", c.name)
		}
	}
}

// The estimate is made anew behind each run: a slower one leaves time for fewer, faster ones behind it for more.
func TestBoundIsEstimatedAnew(t *testing.T) {
	tests := &recorded.Runner{Spent: 70 * time.Second}
	cam := &campaign{
		cfg: &settings{Series: Series{Runs: 10}, Bounded: true}, result: &Result{}, tests: tests,
		time: spending{plain: 10 * time.Second, exact: 60 * time.Second},
	}
	var said time.Duration
	cam.cfg.Progress = func(e Event) { said = e.Elapsed }
	for i, run := range []struct {
		took time.Duration // seconds
		want int
	}{
		{10, 10}, // 210 s, of which 28 s are for replays: 102 s are left
		{30, 4},  // 72 s, at 30 s a run that makes noise
		{10, 6},  // 62 s, at 20 s
	} {
		tests.Spent += run.took * time.Second
		cam.bound(i + 1)
		if cam.cfg.Runs != run.want || cam.result.Unmade != 10-run.want {
			t.Errorf("run %d took %d s: %d runs, %d unmade; want %d runs", i+1, run.took, cam.cfg.Runs, cam.result.Unmade,
				run.want)
		}
		if i == 0 && said <= 90*time.Second {
			t.Errorf("9 more runs with noise are said to take %v, as without noise", said)
		}
	}
}

// A run that counts less than it has taken, as the machine has other work, leaves time for as many others as elsewhere;
// the time for replays and the one that is printed are those of this machine.
func TestBoundCountsWithoutLoad(t *testing.T) {
	cam := &campaign{
		cfg: &settings{Series: Series{Runs: 10}, Bounded: true}, result: &Result{},
		tests: &recorded.Runner{Spent: 6 * time.Second, Elapsed: 18 * time.Second},
		time:  spending{plain: time.Second, exact: 4 * time.Second},
	}
	var said time.Duration
	cam.cfg.Progress = func(e Event) { said = e.Elapsed }
	if cam.bound(1); cam.cfg.Runs != 10 || said < 27*time.Second {
		t.Errorf("%d runs, in %v; want 10 of 3 s each", cam.cfg.Runs, said)
	}
	if got := cam.replayTime(1); got != 3*36*time.Second {
		t.Errorf("%v for replays, want three times the 36 s that are left", got)
	}
}

// Short runs go on while they have confirmed nothing, and no run goes on for long.
func TestShortRunsGoOn(t *testing.T) {
	for _, c := range []struct {
		name      string
		monitored time.Duration // that ten runs have taken
		cpu       time.Duration // of it on processors
		confirmed bool
		runs      int // behind run 10
	}{
		{"short", time.Second, time.Second / 2, false, 11},
		{"short, with a finding", time.Second, time.Second / 2, true, 10},
		{"short, and busy", time.Second, time.Second, false, 10},
		{"long", 10 * time.Second, time.Second / 2, false, 10},
	} {
		p := &plan.Plan{}
		cam := &campaign{
			cfg: &settings{
				Settings: run.Settings{Program: run.Program{Workspace: &build.Workspace{Module: &build.Module{}}, Plan: p}},
				Series:   Series{Runs: 10}, Bounded: true,
			},
			result: &Result{}, seen: judge.NewTally(p, nil),
			tests: &recorded.Runner{Spent: c.monitored, CPU: c.cpu}, time: spending{asked: 10},
		}
		if c.confirmed {
			cam.seen.Fatals[judge.FatalAt{}] = &judge.FatalSeen{Kind: &judge.FatalErrors[0], Run: 1, Hits: map[int]bool{1: true},
				Goroutine: finding.Goroutine{Stack: []finding.Frame{{Function: "p.f", File: "p.go", Line: 1}}}}
		}
		cam.bound(10)
		if cam.cfg.Runs != c.runs || cam.result.Unmade != 0 {
			t.Errorf("%s: %d runs behind the tenth, %d unmade; want %d, 0", c.name, cam.cfg.Runs, cam.result.Unmade, c.runs)
		}
	}
}

// The announced time bounds the runs asked for, those made beyond them while they confirm nothing, the searches and
// the replays.
func TestBoundNamesAllThatComes(t *testing.T) {
	for _, c := range []struct {
		name          string
		first         time.Duration // that the first monitored run has taken
		further       int
		least, atMost time.Duration
	}{
		// Of 3 times 10 s and 30 s, 22 s are spent. Behind the runs 10 s are kept, of which searches take three quarters at
		// most, and the replays have 10 s in any case.
		{"long runs", 2 * time.Second, 0, 38 * time.Second, 50 * time.Second},
		{"short runs", 20 * time.Millisecond, 50, 40 * time.Second, 42 * time.Second},
	} {
		var e Event
		cam := &campaign{
			cfg:    &settings{Series: Series{Runs: 10, Progress: func(got Event) { e = got }}, Bounded: true},
			result: &Result{}, tests: &recorded.Runner{Spent: 20*time.Second + c.first},
			time: spending{plain: 10 * time.Second, exact: 10 * time.Second, asked: 10},
		}
		cam.bound(1)
		if e.Kind != Bounded || e.Further != c.further || e.Elapsed < c.least || e.Elapsed > c.atMost {
			t.Errorf("%s: %+v: want %v to %v, and %d further runs", c.name, e, c.least, c.atMost, c.further)
		}
	}
}
