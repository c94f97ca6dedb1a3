package judge

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/atomicsets/plan"
	"github.com/interlock-go/interlock/dynamic/build"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/deadlock"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/testproc"
	"github.com/interlock-go/interlock/dynamic/campaign/run"
	"github.com/interlock-go/interlock/dynamic/evidence"
)

// A replay has all that the run depends on: what came in between a split section too,
// and the flags that decide about the plan.
func TestReplayCommand(t *testing.T) {
	seen := NewTally(sectionPlan(plan.LoadAndStore), nil)
	seen.Begin(4, 7, nil, nil)
	seen.Add("m", 1000, []evidence.Record{splitRecord(true)}, &testproc.Process{Outcome: run.Passed}, t.Errorf)
	cfg := &run.Settings{
		Program: run.Program{Workspace: &build.Workspace{Module: &build.Module{Path: "m", Root: "/m"}}, Plan: seen.plan},
		Replay:  run.Replays{OnlyFlag: "-only", Flags: []string{"-sections=ai", "-whole"}},
		Noise:   run.Noise{Budget: 50, Prob: 900},
		Tests:   run.Tests{Flags: []string{"-test.short=true", "-addr", "a b"}},
	}
	all, _ := seen.Findings(cfg, nil, nil)
	f := all[0]
	want := "interlock test -runs=1 -seed=7 -strength=1000 -budget=50 -prob=900 " +
		"-only=a.go:4:2,a.go:3:2,a.go:5:2 -sections=ai -whole m -- -short=true -addr 'a b'"
	if f.Evidence.Replay != want {
		t.Errorf("got  %s\nwant %s", f.Evidence.Replay, want)
	}
}

// A deadlock is replayed with goroutines held between the lock that each has and the one that it waits for, also where
// the second is a read lock of the same mutex, which a writer keeps readers out of. The writer holds nothing, and a
// goroutine that waits for itself needs no other.
func TestDeadlockIsHeld(t *testing.T) {
	at := func(line int, locks ...string) finding.Access {
		return finding.Access{Position: finding.Position{File: "a.go", Line: line, Column: 2}, Locks: locks}
	}
	holder := func(line int) finding.Holder {
		return finding.Holder{Position: finding.Position{File: "a.go", Line: line, Column: 2}}
	}
	const reader, again, writer = 3, 9, 20
	for _, tt := range []struct {
		accesses []finding.Access
		holders  []finding.Holder
		want     string
	}{
		{[]finding.Access{at(again, "s.mu (read)"), at(writer)}, []finding.Holder{holder(reader)}, "a.go:3:2,a.go:9:2"},
		{[]finding.Access{at(again, "s.mu (read)")}, []finding.Holder{holder(reader)}, ""},
	} {
		f := &finding.Finding{Accesses: tt.accesses}
		f.Evidence = &finding.Evidence{Blocked: deadlock.Blocked, Holders: tt.holders}
		r := ReplayOf(&run.Settings{Program: run.Program{Workspace: &build.Workspace{Module: &build.Module{}}}}, 0, nil, f)
		if r.Hold != tt.want {
			t.Errorf("%d goroutines: held at %q, want %q", len(tt.accesses), r.Hold, tt.want)
		}
	}
}

// A finding of a run by a plan is replayed with the window of that plan.
func TestReplayHasWindow(t *testing.T) {
	p := new(plan.Plan)
	v := plan.Variable{Package: "m", Name: "n", Kind: plan.KindGlobal}
	for i := range 2 {
		p.Sites = append(p.Sites, plan.Site{
			ID: uint32(i + 1), Package: "m", Function: "F", Variable: v,
			Mode: plan.Write, File: "m.go", Line: i + 3, Column: 1,
		})
	}
	side := func(site uint32) *evidence.Side {
		return &evidence.Side{Site: site, Write: true, GID: int64(site), Size: 8, Stack: "goroutine 1 [running]:\n"}
	}
	seen := NewTally(p, nil)
	seen.Begin(1, 7, nil, nil)
	seen.Hold(1, map[uint32]time.Duration{2: 20 * time.Millisecond})
	seen.race("m", 100, &evidence.Record{Kind: evidence.Race, A: side(1), B: side(2), Count: 1}, false)
	ws := &build.Workspace{Module: &build.Module{Path: "m", Root: "/m"}}
	cfg := &run.Settings{Program: run.Program{Workspace: ws, Plan: p}, Replay: run.Replays{OnlyFlag: "-only"}}
	found, _ := seen.Findings(cfg, nil, nil)
	if len(found) != 1 || !strings.Contains(found[0].Evidence.Replay, " -only=m.go:4:1@20000us,m.go:3:1 ") {
		t.Fatalf("%d findings, want one held at m.go:4 for 20 ms: %+v", len(found), found[0].Evidence)
	}
}

// x = x + 1 in two functions is one race, whichever of their reads and writes met.
func TestOneRaceIsOneFinding(t *testing.T) {
	p := &plan.Plan{Version: plan.SchemaVersion, Module: "m"}
	v := plan.Variable{Package: "m", Type: "T", Name: "n", Kind: plan.KindField}
	for i, line := range []int{3, 3, 7, 7, 9} { // a read and a write each, and a read elsewhere
		mode := []plan.Mode{plan.Read, plan.Write}[i%2]
		p.Sites = append(p.Sites, plan.Site{
			ID: uint32(i + 1), Package: "m", Function: "F", Variable: v, Mode: mode, Decision: plan.Monitor,
			File: "a.go", Line: line, Column: 2 + i%2, Expr: "t.n",
		})
	}
	race := func(a, b uint32) evidence.Record {
		side := func(site uint32, gid int64) *evidence.Side {
			const stack = "goroutine 7 [running]:\nm.F(0x1)\n\ta.go:3 +0x1\n"
			return &evidence.Side{Site: site, Write: site%2 == 0, GID: gid, Size: 8, Stack: stack}
		}
		return evidence.Record{Version: 1, Kind: evidence.Race, PID: 1, A: side(a, 7), B: side(b, 8), Count: 1}
	}
	seen := NewTally(p, nil)
	for i, records := range [][]evidence.Record{{race(1, 4)}, {race(3, 2)}, {race(2, 4), race(5, 2)}, nil} {
		seen.Begin(i+1, 1, nil, nil)
		seen.Add("m", 100, records, &testproc.Process{Outcome: run.Passed}, t.Errorf)
	}
	ws := &build.Workspace{Module: &build.Module{Path: "m", Root: "/m"}}
	found, _ := seen.Findings(&run.Settings{Program: run.Program{Workspace: ws, Plan: p}}, nil, nil)
	if len(found) != 2 {
		t.Fatalf("%d findings, want one for the lines 3 and 7 and one for 3 and 9", len(found))
	}
	f := found[0]
	a, b, e := f.Accesses[0], f.Accesses[1], f.Evidence
	if a.Line != 7 || a.Mode != finding.Write || b.Mode != finding.Write || e.Hits != 3 || e.Runs != 4 || e.Count != 3 {
		t.Errorf("%s, %+v", f.Title, f.Evidence)
	}
}

// The test that goroutines come from is a function of package testing, not a method of a suite, which -run does not
// choose.
func TestCommonTest(t *testing.T) {
	at := func(functions ...string) (g finding.Goroutine) {
		for _, f := range functions {
			g.Stack = append(g.Stack, finding.Frame{Function: "example.com/m.v2/p_test." + f, File: "p/p_test.go", Line: 1})
		}
		return g
	}
	suite, literal, plain := at("(*Suite).TestWaits", "Helper"), at("TestX.func1.2"), at("(*Suite).TestWaits", "TestX")
	for want, all := range map[string][]*finding.Goroutine{
		"": {&suite}, "TestX": {&literal, &plain},
	} {
		if got := commonTest(all); got != want {
			t.Errorf("%v come from %q, want %q", all, got, want)
		}
	}
}

// Where the run that was first does not show a finding again, wider windows are tried.
func TestWaysToReplay(t *testing.T) {
	r := run.Replay{Strength: 100, Test: "TestX"}
	var got []string
	for _, w := range r.Ways() {
		got = append(got, fmt.Sprintf("%d%s", w.Strength, strings.TrimPrefix(w.Test, "Test")))
	}
	if want := []string{"100X", "1000X", "10000X"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	// Where a goroutine is held for another to come, nobody else need be.
	r.Only = "a.go:3:1@20ms"
	if ways := r.Ways(); len(ways) != 4 || ways[0].Quiet || !ways[1].Quiet || ways[1].Only != r.Only || ways[2].Quiet {
		t.Errorf("with a window: %+v", ways)
	}
	send := finding.Access{Position: finding.Position{File: "a.go", Line: 3, Column: 2}, Mode: finding.Send}
	fatal := &finding.Finding{
		Accesses: []finding.Access{send}, Evidence: &finding.Evidence{Error: "send on closed channel"},
	}
	cfg := &run.Settings{Program: run.Program{Workspace: &build.Workspace{Module: &build.Module{}}}}
	if r := ReplayOf(cfg, 0, nil, fatal); r.Only != "" {
		t.Errorf("an error of the runtime needs no noise, but gets it at %s", r.Only)
	}
}

// A hang that a planned run has shown is replayed with the windows of the plan, then with longer ones. One that came
// without noise is tried with the noise of several seeds.
func TestWaysToReplayHang(t *testing.T) {
	f := &finding.Finding{Accesses: []finding.Access{{Mode: finding.Receive}}}
	f.Evidence = &finding.Evidence{Blocked: "chan receive", Seed: 4}
	cfg := &run.Settings{Program: run.Program{Workspace: &build.Workspace{Module: &build.Module{}}}}
	for _, tt := range []struct {
		strength int
		windows  map[string]time.Duration
		want     []string
	}{
		{100, map[string]time.Duration{"a.go:3:2": 2 * time.Millisecond, "a.go:5:1": time.Second}, []string{
			"4 100 a.go:3:2@2000us,a.go:5:1@1000000us", "4 800 a.go:3:2@16000us,a.go:5:1@1000000us",
			"4 100 a.go:3:2@2000us,a.go:5:1@1000000us quiet", "4 1000 ", "4 10000 ",
		}},
		{1000, nil, []string{"4 1000 ", "4 8000 ", "4 10000 "}},
		{0, nil, []string{"4 0 ", "5 1000 ", "6 1000 ", "7 1000 "}},
	} {
		r := ReplayOf(cfg, tt.strength, tt.windows, f)
		var got []string
		for _, w := range r.Ways() {
			text := fmt.Sprintf("%d %d %s", w.Seed, w.Strength, w.Only)
			if w.Quiet {
				text += " quiet"
			}
			got = append(got, text)
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("strength %d: %q, want %q", tt.strength, got, tt.want)
		}
	}
}
