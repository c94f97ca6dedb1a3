package campaign

import (
	"time"

	"github.com/interlock-go/interlock/dynamic/campaign/internal/recorded"
)

// A bounded campaign takes about boundFactor times as long as its runs under the happens-before engine, and
// boundFloor more. A run is of all packages, so that each has a share by the time that its tests take; the first
// monitored run is always made.
const (
	boundFactor = 3
	boundFloor  = 30 * time.Second
	// withoutExact stands for the run under the happens-before engine where there is none, in times of the plain run.
	withoutExact = 3
)

const (
	// replayShare is how much of the campaign's time the replays may take, at least
	// leastReplay; of a bounded one, how much of the time for monitored runs is kept for them.
	replayShare        = 0.5
	boundedReplayShare = 0.2
	leastReplay        = 10 * time.Second
)

// spending is how long the processes of a campaign have taken.
type spending struct {
	plain, exact time.Duration // without noise, and under the happens-before engine
	longest      time.Duration // of the monitored runs
	before       time.Duration // all, when the latest of them ended
	end          time.Time     // of the replays
}

// timed adds to part how long the processes take that f runs.
func (s *spending) timed(part *time.Duration, tests *recorded.Runner, f func() error) error {
	began := tests.Spent
	err := f()
	*part += tests.Spent - began
	return err
}

// allowed is how long the processes of a bounded campaign may take in all.
func (s *spending) allowed() time.Duration {
	exact := s.exact
	if exact == 0 {
		exact = withoutExact * s.plain
	}
	// What takes long without noise, as a test that hangs does, takes nothing from the monitored runs.
	return max(boundFactor*exact, s.plain+s.exact) + boundFloor
}

// bound takes up that run n is made, and has a bounded campaign make as many of the others as there is time for.
func (c *campaign) bound(n int) {
	t := &c.time
	took := c.tests.Spent - t.before
	if n == 1 {
		took -= t.plain + t.exact
	}
	t.before, t.longest = c.tests.Spent, max(t.longest, took)
	c.result.PerRun = t.longest
	if !c.cfg.Bounded {
		return
	}
	// A run takes as long as the longest so far: noise differs from run to run.
	left := max(t.allowed()-c.tests.Spent-t.kept(), 0)
	if fit := n + int(left/max(t.longest, time.Millisecond)); fit < c.cfg.Runs {
		c.result.Unmade += c.cfg.Runs - fit
		c.cfg.Runs = fit
	}
	c.progress(Event{Kind: Bounded, Run: n, Runs: c.cfg.Runs, Elapsed: time.Duration(c.cfg.Runs-n) * t.longest})
}

// kept is how much of what a bounded campaign may take is kept for replays.
func (s *spending) kept() time.Duration {
	monitored := s.allowed() - s.plain - s.exact
	return max(time.Duration(boundedReplayShare*float64(monitored)), leastReplay)
}

// replayTime is how long the replays may take.
func (c *campaign) replayTime() time.Duration {
	if c.cfg.Bounded {
		return max(c.time.allowed()-c.tests.Spent, leastReplay)
	}
	return max(time.Duration(replayShare*float64(c.tests.Spent)), leastReplay)
}

// isLate reports whether the time of a bounded campaign is over.
func (c *campaign) isLate() bool { return c.cfg.Bounded && time.Now().After(c.time.end) }
