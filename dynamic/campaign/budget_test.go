package campaign

import (
	"testing"
	"time"

	"github.com/interlock-go/interlock/dynamic/campaign/internal/recorded"
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
			cfg: &Config{Runs: 10, Bounded: c.bounded}, result: &Result{},
			tests: &recorded.Runner{Spent: plain + exact + took},
			time:  spending{plain: plain, exact: exact},
		}
		cam.bound(1)
		if cam.cfg.Runs != c.runs || cam.result.Unmade != 10-c.runs || cam.result.PerRun != took {
			t.Errorf("%s: %d runs, %d unmade, %v each; want %d runs", c.name, cam.cfg.Runs, cam.result.Unmade,
				cam.result.PerRun, c.runs)
		}
		if cam.replayTime() < leastReplay {
			t.Errorf("%s: no time for replays", c.name)
		}
	}
}

// A slower run leaves time for fewer.
func TestBoundShrinks(t *testing.T) {
	tests := &recorded.Runner{Spent: 80 * time.Second}
	cam := &campaign{
		cfg: &Config{Runs: 10, Bounded: true}, result: &Result{}, tests: tests,
		time: spending{plain: 10 * time.Second, exact: 60 * time.Second},
	}
	cam.bound(1) // 210 s, of which 28 s are for replays
	if cam.cfg.Runs != 10 {
		t.Fatalf("%d runs after a run of 10 s, want 10", cam.cfg.Runs)
	}
	tests.Spent += 30 * time.Second
	if cam.bound(2); cam.cfg.Runs != 4 || cam.result.Unmade != 6 {
		t.Errorf("%d runs after one of 30 s, %d unmade; want 4 and 6", cam.cfg.Runs, cam.result.Unmade)
	}
}
