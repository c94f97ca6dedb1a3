package testrun

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/dynamic/build"
	"github.com/interlock-go/interlock/dynamic/campaign"
	"github.com/interlock-go/interlock/dynamic/campaign/record"
)

// A failure under noise may be a bug that the monitor does not see, and there
// are later runs only if there are.
func TestFailureUnderNoise(t *testing.T) {
	f := &campaign.Failure{Run: 3, Seed: 7, Strength: 100, Outcome: campaign.Failed}
	p := &campaign.PackageResult{
		Package:        "m",
		Runs:           10,
		Failures:       1,
		First:          f,
		UnderNoiseOnly: campaign.UnderNoiseOnly{UnderNoise: 1, UnderNoiseFirst: f, Strength: 50, Tests: []string{"TestX"}},
	}
	got := FailureOf(p, false)
	for _, want := range []string{"TestX of m failed only under noise", "or has a bug that the monitor cannot name",
		"later runs had a strength of at most 50"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in %q", want, got)
		}
	}
	f.Said = "x_test.go:9: want 3"
	if got := FailureOf(p, false); !strings.Contains(got, " and strength 100 (x_test.go:9: want 3)") {
		t.Errorf("what it says is missing: %q", got)
	}
	if got := FailureOf(p, true); !strings.Contains(got, "noise: a finding may explain it, or a dependence on") {
		t.Errorf("there are findings, but: %q", got)
	}
	p.ExactFailure = &campaign.Failure{Tests: p.Tests}
	if got := FailureOf(p, false); !strings.Contains(got, "TestX of m failed under noise as well: ") {
		t.Errorf("it failed under the happens-before engine too: %q", got)
	}
	p.ExactFailure = nil
	f.Output = "--- FAIL: TestX (0.00s)\n    x_test.go:9: listen tcp :9991: bind: address already in use\nFAIL\n"
	if got := FailureOf(p, false); strings.Contains(got, "only under noise") ||
		!strings.Contains(got, `"x_test.go:9: listen tcp :9991: bind: address already in use": end the program`) {
		t.Errorf("another program holds the port, but: %q", got)
	}
	f.Output = ""
	p.Runs = 3
	if got := FailureOf(p, false); strings.Contains(got, "later runs") {
		t.Errorf("the last run failed, but: %q", got)
	}
}

// Where each test hangs, the monitored runs have none to run: nothing has passed.
func TestFailureOfAllThatHang(t *testing.T) {
	p := &campaign.PackageResult{
		Package:      "m",
		Runs:         3,
		WithoutNoise: campaign.WithoutNoise{PlainFailure: &campaign.Failure{Outcome: campaign.TimedOut}},
		NotIn:        campaign.NotIn{LeftOut: []string{"TestX"}},
	}
	if got := FailureOf(p, false); !strings.Contains(got, "which left out TestX, the other tests passed") {
		t.Errorf("other tests passed, but: %q", got)
	}
	p.NoneRan = true
	if got := FailureOf(p, false); !strings.HasSuffix(got, "left out TestX, and there is no other test") {
		t.Errorf("there is no other test, but: %q", got)
	}
}

// That the disk is full says nothing of the tests.
func TestFailuresOfTheMachine(t *testing.T) {
	full := build.Complaint{Package: "m", Unbuilt: true, Text: "# m.test\nlink: mapping output file failed: " +
		"no space left on device\nFAIL\tm [build failed]\n"}
	d := &Done{Built: &Built{Vetted: []build.Complaint{full}}, Result: &campaign.Result{}}
	got := d.Failures(false)
	if len(got) != 1 || !strings.Contains(got[0].Text, "a fault of the machine, not of the code") {
		t.Errorf("the disk is full, but: %+v", got)
	}
	d.Vetted[0].Text = "link: duplicated definition of symbol\n"
	if got := d.Failures(false); len(got) != 1 || !strings.Contains(got[0].Text, "do not build as they stand") {
		t.Errorf("they do not link, but: %+v", got)
	}
}

// A test that always fails is named beside one that fails under noise alone.
func TestFailuresBesideNoise(t *testing.T) {
	first := &campaign.Failure{Run: 1, Seed: 5, Outcome: campaign.Failed}
	noisy := &campaign.Failure{Run: 3, Seed: 7, Strength: 100, Outcome: campaign.Failed}
	p := campaign.PackageResult{
		Package:        "m",
		Runs:           10,
		Failures:       10,
		First:          first,
		UnderNoiseOnly: campaign.UnderNoiseOnly{UnderNoise: 2, UnderNoiseFirst: noisy, Tests: []string{"TestX"}},
		WithoutNoise: campaign.WithoutNoise{
			Plain: campaign.Failed, PlainFailure: &campaign.Failure{Outcome: campaign.Failed},
		},
	}
	d := &Done{Built: &Built{}, Result: &campaign.Result{Packages: []campaign.PackageResult{p}}}
	got := d.Failures(false)
	if len(got) != 2 || !strings.Contains(got[0].Text, "TestX of m failed only under noise") ||
		!strings.Contains(got[1].Text, "the tests of m failed in 8 of 8 runs") ||
		!strings.HasSuffix(got[1].Text, "without noise they failed too") {
		t.Errorf("printed %+v", got)
	}
	p.Plain, p.PlainFailure, p.Failures = campaign.Passed, nil, 2
	d.Result.Packages[0] = p
	if got := d.Failures(false); len(got) != 1 {
		t.Errorf("nothing fails without noise, but: %+v", got)
	}
}

// A record that can be written no more takes nothing away from what the runs show.
func TestUnkept(t *testing.T) {
	file, err := record.Open(filepath.Join(t.TempDir(), "r.db"))
	if err != nil {
		t.Fatal(err)
	}
	c, _, err := file.Begin(record.Description{Module: "m", Build: "b", Settings: "s", Seed: 1, Runs: 2})
	if err != nil {
		t.Fatal(err)
	}
	shown := &campaign.Result{Findings: []*finding.Finding{{ID: "il-1"}}, Made: campaign.Made{Runs: 2}}
	k := keeping{run: func(_ context.Context, s Settings) (*campaign.Result, error) {
		file.Close()
		for range shown.Runs {
			if next := s.AfterRun(shown); next != campaign.GoOn {
				t.Errorf("a run is followed by %v", next)
			}
		}
		return shown, nil
	}, shown: func(r *campaign.Result) []*finding.Finding { return r.Findings }}
	r, err := k.goOn(t.Context(), c, func(*campaign.Result) campaign.Next { return campaign.GoOn })
	if r != shown || err != nil || c.Unkept == nil {
		t.Errorf("%v, %v, unkept: %v", r, err, c.Unkept)
	}
}
