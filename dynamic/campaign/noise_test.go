package campaign

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/interlock-go/interlock/dynamic/campaign/arm"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/testproc"
	"github.com/interlock-go/interlock/dynamic/campaign/run"
)

// plainPart is the part of INTERLOCK_NOISE that differs from campaign to campaign.
var plainPart = regexp.MustCompile(`,plain=\d+`)

// noises returns what INTERLOCK_NOISE was in each run.
func noises(t *testing.T, cfg Config) (all []string) {
	t.Helper()
	for run := 1; run <= cfg.Runs; run++ {
		all = append(all, noiseOf(t, cfg, run))
	}
	return all
}

// noiseOf returns what INTERLOCK_NOISE was in a run.
func noiseOf(t *testing.T, cfg Config, run int) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(cfg.Tests.Binaries[0].Dir, fmt.Sprintf("noise-%d", run)))
	if err != nil {
		t.Fatal(err)
	}
	return plainPart.ReplaceAllString(string(data), "")
}

func TestNoiseClimbsTheLadder(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long")
	}
	cfg := config(t, scripted(strings.Repeat("noise?\n", 6)), threeSites(t))
	cfg.Runs = 6
	campaignOf(t, cfg)
	var want []string
	for run := range cfg.Runs {
		want = append(want, fmt.Sprintf("strength=%d", ladder[run%len(ladder)]))
	}
	want[0] += ",prob=0" // the run that measures
	if got := noises(t, cfg); !slices.Equal(got, want) {
		t.Errorf("noise %q, want %q", got, want)
	}
	cfg.Noise.Strength, cfg.Noise.Budget, cfg.Runs = 70, 50, 1
	campaignOf(t, cfg)
	if got := noises(t, cfg); got[0] != "strength=70,budget=50" {
		t.Errorf("noise %q", got)
	}
}

// Tests that fail under noise alone have it weakened by half each time; a race
// in the same package is explanation enough.
func TestNoiseIsWeakened(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long")
	}
	with := func(failures int, plain run.Outcome, under run.UnderNoiseOnly) run.Package {
		return run.Package{Failures: failures, WithoutNoise: run.WithoutNoise{Plain: plain}, UnderNoiseOnly: under}
	}
	for _, tt := range []struct {
		name, script string
		Delays       []string
		want         run.Package
	}{
		{
			"timing", "fail noise?\nfail noise?\nnoise?", []string{"strength=100", "strength=50", "strength=25"},
			with(2, run.Passed, run.UnderNoiseOnly{UnderNoise: 2, Strength: 25, Tests: []string{"Test"}}),
		},
		{
			"race", "fail 1-2 noise?\nfail noise?\nnoise?", []string{"strength=100", "strength=100", "strength=100"},
			with(2, run.Passed, run.UnderNoiseOnly{UnderNoise: 2, Tests: []string{"Test"}}),
		},
		{
			"fails by itself now and then", "breaks fail noise?\nfail noise?\nnoise?",
			[]string{"strength=100", "strength=100", "strength=100"},
			with(2, run.Failed, run.UnderNoiseOnly{}),
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cfg := config(t, scripted(tt.script), threeSites(t))
			cfg.Runs, cfg.Noise.Strength = 3, 100
			r := campaignOf(t, cfg)
			if got := noises(t, cfg); !slices.Equal(got, tt.Delays) {
				t.Errorf("noise %q, want %q", got, tt.Delays)
			}
			p := r.Packages[0]
			got := with(p.Failures, p.Plain,
				run.UnderNoiseOnly{UnderNoise: p.UnderNoise, Strength: p.Strength, Tests: p.Tests})
			if fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", tt.want) {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
			if p.Failures == 0 || p.First == nil || (p.UnderNoise > 0) != (p.UnderNoiseFirst != nil) {
				t.Errorf("%+v", p)
			}
		})
	}
}

func TestStrongNoiseIsWeakenedToGentle(t *testing.T) {
	for strength, want := range map[int]int{2000: gentle, 150: 75, gentle: gentle / 2, weakest: weakest} {
		if got := weaken(strength); got != want {
			t.Errorf("after %d: %d, want %d", strength, got, want)
		}
	}
}

func TestFailingWithoutNoiseIsNoTiming(t *testing.T) {
	cfg := config(t, scripted("fail\npanic\n"), threeSites(t))
	if err := os.WriteFile(filepath.Join(cfg.Tests.Binaries[0].Dir, "breaks"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	cfg.Runs = 2
	p := campaignOf(t, cfg).Packages[0]
	// The first run fails as without noise, the second in another way.
	if p.Plain != run.Failed || p.Failures != 2 || p.UnderNoise != 1 || p.UnderNoiseFirst.Run != 2 {
		t.Errorf("%+v", p)
	}
}

// seen makes a file that shows that it was given the word.
type seen struct{ file string }

func (s seen) Write(b []byte) (int, error) {
	if strings.Contains(string(b), "seen?") {
		return len(b), os.WriteFile(s.file, nil, 0o644)
	}
	return len(b), nil
}

// With -test.v the first run shows its output while it goes on.
func TestOutputIsShownLive(t *testing.T) {
	cfg := config(t, scripted("seen?"), threeSites(t))
	cfg.Tests.Flags = []string{"-test.v"}
	cfg.Tests.Stdout = seen{filepath.Join(cfg.Tests.Binaries[0].Dir, "seen")}
	if r := campaignOf(t, cfg); r.Failed() {
		t.Errorf("%+v", r.Packages[0].First)
	}
}

// An auto schedule measures first, and looks around in every fourth run; where the user
// says where to make noise, or runs have to be alike, there is no plan.
func TestPurposes(t *testing.T) {
	with := func(n run.Noise) settings { return settings{Settings: run.Settings{Noise: n}, Series: Series{Runs: 4}} }
	for _, tt := range []struct {
		name string
		cfg  settings
		want []run.Purpose
	}{
		{"auto", settings{Series: Series{Runs: 6}},
			[]run.Purpose{run.Measuring, run.Planned, run.Planned, run.Guided, run.Planned, run.Planned}},
		{"few runs", settings{Series: Series{Runs: 2}}, []run.Purpose{run.Guided, run.Planned}},
		{"guided", with(run.Noise{Where: arm.Heuristic{Text: "guided"}}),
			[]run.Purpose{run.Guided, run.Guided, run.Guided, run.Guided}},
		{"replay", with(run.Noise{Only: []uint32{1}}), []run.Purpose{run.Guided, run.Guided, run.Guided, run.Guided}},
		{"repeated", with(run.Noise{Repeat: true}), []run.Purpose{run.Guided, run.Guided, run.Guided, run.Guided}},
	} {
		for i, want := range tt.want {
			if got := tt.cfg.purpose(i + 1); got != want {
				t.Errorf("%s: run %d is for %d, want %d", tt.name, i+1, got, want)
			}
		}
	}
}

// A test that failed without noise beside one that hung fails as it did then, once runs leave the other out.
func TestFailsBesideAHang(t *testing.T) {
	pkg := &run.Package{
		WithoutNoise: run.WithoutNoise{Plain: run.TimedOut},
		State:        run.State{PlainTests: []string{"TestFails", "TestHangs"}},
	}
	for output, want := range map[string]bool{
		"--- FAIL: TestFails (0.00s)\n":                              true,
		"--- FAIL: TestFails (0.00s)\n--- FAIL: TestOther (0.00s)\n": false,
		"FAIL\n": false,
	} {
		p := &testproc.Process{Outcome: run.Failed, Output: []byte(output)}
		if got := pkg.LikePlain(p); got != want {
			t.Errorf("%q: %v, want %v", output, got, want)
		}
	}
}
