package campaign

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/atomicsets/plan"
	"github.com/interlock-go/interlock/dynamic/build"
	"github.com/interlock-go/interlock/dynamic/evidence"
)

// The rate that a finding states is that of its own command. A replay is the first
// run of its campaign.
func TestReplaysAreTried(t *testing.T) {
	for _, tt := range []struct {
		script     string
		hits, runs int
	}{{"1-2\n\n", 3, 3}, {"\n1-2", 0, selections}} {
		cfg := config(t, scripted(tt.script), threeSites(t))
		cfg.Runs, cfg.Replays, cfg.OnlyFlag = 2, 3, "-only"
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

// A replay has all that the run depends on: what came in between a split section too,
// and the flags that decide about the plan.
func TestReplayCommand(t *testing.T) {
	seen := newTally(sectionPlan(plan.LoadAndStore), nil)
	seen.begin(4, 7, nil, nil)
	seen.add("m", 1000, []evidence.Record{splitRecord(true)}, &process{outcome: Passed}, t.Errorf)
	cfg := &Config{
		Workspace: &build.Workspace{Module: &build.Module{Path: "m", Root: "/m"}}, Plan: seen.plan, OnlyFlag: "-only",
		ReplayFlags: []string{"-sections=ai", "-whole"}, Budget: 50, Prob: 900, TestFlags: []string{"-test.short=true", "-addr", "a b"},
	}
	f := seen.findings(cfg, &Result{})[0]
	want := "interlock test -runs=1 -seed=7 -strength=1000 -budget=50 -prob=900 -only=a.go:4:2,a.go:3:2,a.go:5:2 -sections=ai -whole m -- -short=true -addr 'a b'"
	if f.Evidence.Replay != want {
		t.Errorf("got  %s\nwant %s", f.Evidence.Replay, want)
	}
}

// Where the run that was first does not show a finding again, wider windows and more
// tests are tried.
func TestWaysToReplay(t *testing.T) {
	r := replay{strength: 100, test: "TestX"}
	var got []string
	for _, w := range r.ways() {
		got = append(got, fmt.Sprintf("%d%s", w.strength, strings.TrimPrefix(w.test, "Test")))
	}
	if want := []string{"100X", "1000X", "10000X", "100"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	fatal := &finding.Finding{Accesses: []finding.Access{at(3, finding.Send)}, Evidence: &finding.Evidence{Error: "send on closed channel"}}
	if r := replayOf(&Config{Workspace: &build.Workspace{Module: &build.Module{}}}, 0, fatal); r.only != "" {
		t.Errorf("an error of the runtime needs no noise, but gets it at %s", r.only)
	}
}
