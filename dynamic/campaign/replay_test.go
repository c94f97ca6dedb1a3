package campaign

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/atomicsets/plan"
	"github.com/interlock-go/interlock/dynamic/build"
	"github.com/interlock-go/interlock/dynamic/campaign/judge"
	"github.com/interlock-go/interlock/dynamic/campaign/run"
)

// The rate that a finding states is that of its own command. A replay is the first
// run of its campaign.
func TestReplaysAreTried(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long")
	}
	for _, tt := range []struct {
		script     string
		replays    int
		hits, runs int
	}{{"1-2\n\n", 3, 3, 3}, {"\n1-2", 3, 0, selections}, {"1-2\n\n", 1, 1, 1}} {
		cfg := config(t, scripted(tt.script), threeSites(t))
		cfg.Runs, cfg.Replay.Tries, cfg.Replay.OnlyFlag = 2, tt.replays, "-only"
		var tried []string
		cfg.Progress = func(e Event) {
			if e.Kind == Replaying {
				tried = append(tried, fmt.Sprintf("%d of %d", e.Run, e.Runs))
			}
		}
		r := campaignOf(t, cfg)
		if len(r.Findings) != 1 || !slices.Equal(tried, []string{"1 of 1"}) {
			t.Fatalf("%d findings, tried %q", len(r.Findings), tried)
		}
		e := r.Findings[0].Evidence
		if e.ReplayHits != tt.hits || e.ReplayRuns != tt.runs || e.Hits != 1 {
			t.Errorf("script %q: seen again in %d of %d, seen in %d", tt.script, e.ReplayHits, e.ReplayRuns, e.Hits)
		}
	}
}

// Findings of one command share its runs, of which those that chose it do not count towards the rate.
func TestReplaysAreShared(t *testing.T) {
	r, with, without := run.Replay{Pkg: "m"}, &judge.Tally{}, &judge.Tally{}
	c := &campaign{cfg: &settings{}, replayed: map[run.Replay][]*judge.Tally{r: {with, without, without, with}}}
	s := &judge.Shown{Again: func(seen *judge.Tally) bool { return seen == with }}
	if hits, runs := c.tryReplay(t.Context(), s, r, 0, selections, 1); hits != 1 || runs != 1 {
		t.Errorf("chosen by %d of %d runs, want 1 of 1", hits, runs)
	}
	if hits, runs := c.tryReplay(t.Context(), s, r, selections, 2, 2); hits != 1 || runs != 2 {
		t.Errorf("seen again in %d of %d runs, want 1 of 2", hits, runs)
	}
}

// A hang is replayed with pauses too: in the functions of the goroutines that wait first, in each order of the
// goroutines, and in other packages not at all. The run as it was comes before them, and without the monitor there are
// none.
func TestHangIsReplayedWithPauses(t *testing.T) {
	site := func(pkg, function string, line int) plan.Site {
		return plan.Site{Package: pkg, Function: function, File: "a.go", Line: line, Column: 2, Decision: plan.Monitor}
	}
	cfg := &settings{Settings: run.Settings{
		Program: run.Program{Workspace: &build.Workspace{Module: &build.Module{}}, Plan: &plan.Plan{Sites: []plan.Site{
			site("m", "Signal", 3), site("m", "Wait", 9), site("m", "Wait", 9), site("other", "Wait", 20),
		}}},
		Tests:  run.Tests{Binaries: []build.Binary{{Package: "m", Monitored: true}}},
		Replay: run.Replays{HoldFlag: "-hold"},
	}}
	f := &finding.Finding{
		Accesses: []finding.Access{{
			Goroutine: &finding.Goroutine{Stack: []finding.Frame{{Function: "m.Wait", File: "a.go"}}},
		}},
		Evidence: &finding.Evidence{Blocked: "sync.Cond.Wait", Seed: 7, Test: "m"},
	}
	c := &campaign{cfg: cfg, seen: judge.NewTally(cfg.Plan, nil)}
	s := &judge.Shown{Finding: f, Replay: judge.ReplayOf(&cfg.Settings, 100, nil, f)}
	var got []string
	for _, w := range c.waysToReplay(s) {
		got = append(got, strings.TrimSpace(fmt.Sprintf("%d %d %s", w.Seed, w.Strength, w.Pause)))
	}
	want := []string{
		"7 100", "28 0 a.go:9:2@10ms", "29 0 a.go:9:2@10ms", "30 0 a.go:9:2@10ms", "31 0 a.go:9:2@10ms",
		"7 800", "7 1000", "7 10000",
		"28 0 a.go:3:2@10ms", "29 0 a.go:3:2@10ms", "30 0 a.go:3:2@10ms", "31 0 a.go:3:2@10ms",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	cfg.Tests.Binaries[0].Monitored = false
	if ways := c.waysToReplay(s); len(ways) != 4 {
		t.Errorf("without the monitor: %d ways, want 4", len(ways))
	}
}

// A test that hangs without noise too is left out of other runs, but not of the replays of its own findings, whether
// the user has chosen it or not.
func TestReplayOfHang(t *testing.T) {
	const module = "-- go.mod --\nmodule m\n\ngo 1.22\n-- m_test.go --\npackage m\n\n" +
		"import (\n\t\"sync\"\n\t\"testing\"\n)\n\nfunc TestOther(*testing.T) {}\n\n" +
		"func TestTwice(*testing.T) {\n\tvar mu sync.Mutex\n\tmu.Lock()\n\tmu.Lock()\n}\n"
	cfg := config(t, module, nil)
	for _, flags := range [][]string{nil, {"-test.run=Twice|Other"}} {
		cfg.Runs, cfg.Seed, cfg.Replay.Tries, cfg.Tests.Flags, cfg.Tests.Dir = 1, 1, 2, flags, t.TempDir()
		r := campaignOf(t, cfg)
		if len(r.Findings) != 1 || r.Findings[0].Evidence.ReplayHits != 2 {
			t.Errorf("flags %q: %d findings, want one that 2 of 2 replays show: %+v", flags, len(r.Findings), r.Findings)
		}
	}
}
