package campaign

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/interlock-go/interlock/dynamic/campaign/run"
)

// A run that Interlock has ended is none that failed: it is made again with less
// noise, and no test is left out for it.
func TestRunsThatHangAreNotCompleted(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long")
	}
	cfg := config(t, scripted("hang noise?\nhang\nhang\n1-2 noise?"), threeSites(t))
	cfg.Runs, cfg.Tests.Timeout, cfg.Noise.Strength = 4, 100*time.Millisecond, 100
	r := campaignOf(t, cfg)
	p := r.Packages[0]
	if r.Failed() || p.Runs != 4 || p.Failures != 0 || p.NotCompleted != 3 || p.FirstCut == nil || len(p.LeftOut) > 0 {
		t.Errorf("%+v", p)
	}
	if p.FirstCut.Outcome != run.CutShort || p.Repeats != 3 || len(r.Findings) != 1 {
		t.Errorf("%+v, %d repeats, %d findings", p.FirstCut, p.Repeats, len(r.Findings))
	}
	if last := noiseOf(t, cfg, 4); last != "strength=12" {
		t.Errorf("noise of the last run: %q", last)
	}
}

// What hangs without noise is left out of the monitored runs, and has failed.
func TestHangsWithoutNoise(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long")
	}
	cfg := config(t, scripted("1-2"), threeSites(t))
	if err := os.WriteFile(filepath.Join(cfg.Tests.Binaries[0].Dir, "hangs"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	cfg.Runs, cfg.Tests.Timeout = 1, 500*time.Millisecond
	var out bytes.Buffer
	cfg.Tests.Stdout = &out
	r := campaignOf(t, cfg)
	p := r.Packages[0]
	if !r.Failed() || p.Plain != run.TimedOut || !slices.Equal(p.LeftOut, []string{"Test"}) || !p.NoneRan {
		t.Errorf("%+v", p)
	}
	// The time of the run that hung says nothing of the runs that leave the test out.
	if p.PlainTime >= p.PlainFailure.Elapsed {
		t.Errorf("the run that hung took %v, those without it are measured by %v", p.PlainFailure.Elapsed, p.PlainTime)
	}
	const waits = " of Test [select (no cases)]:\n\texample.com/m.Test  m_test.go:"
	if got := out.String(); !strings.Contains(got, "panic: test timed out after 500ms") || !strings.Contains(got, waits) ||
		strings.Contains(got, "testing.tRunner") || !strings.Contains(got, "FAIL\texample.com/m\t") {
		t.Errorf("shown:\n%s", got)
	}
}

// What fails without the monitor has failed, whatever the monitored runs do.
func TestFailsOnlyWithoutTheMonitor(t *testing.T) {
	cfg := config(t, scripted("1-2\n\n"), threeSites(t))
	if err := os.WriteFile(filepath.Join(cfg.Tests.Binaries[0].Dir, "breaks"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	cfg.Runs = 2
	var out bytes.Buffer
	cfg.Tests.Stdout = &out
	r := campaignOf(t, cfg)
	if p := r.Packages[0]; !r.Failed() || p.Failures != 0 || p.PlainFailure == nil {
		t.Errorf("%+v", p)
	}
	if got := out.String(); !strings.Contains(got, "fails without the monitor") || strings.Contains(got, "ok  \t") {
		t.Errorf("shown:\n%s", got)
	}
}

func TestLeavingOutKeepsTheFlags(t *testing.T) {
	c := &campaign{cfg: &settings{Settings: run.Settings{Tests: run.Tests{
		Flags: []string{"-test.v=true", "-test.skip=A|B/c", "-addr", "x"},
	}}}}
	if got := c.without(nil); !slices.Equal(got, c.cfg.Tests.Flags) {
		t.Errorf("got %q", got)
	}
	want := []string{"-test.skip=A|B/c|^(TestX|TestY)$", "-test.v=true", "-addr", "x"}
	if got := c.without([]string{"TestX", "TestY"}); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
