package campaign

import (
	"slices"
	"time"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/child"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/recorded"
	"github.com/interlock-go/interlock/dynamic/campaign/run"
)

// A bounded campaign takes about boundFactor times as long as its runs under the happens-before engine, and
// boundFloor more. A run is of all packages, so that each has a share by the time that its tests take; the first
// monitored run is always made.
const (
	boundFactor = 3
	boundFloor  = 30 * time.Second
	// withoutExact replaces the time of the run under the happens-before engine if it is off, in times of the plain run.
	withoutExact = 3
)

const (
	// A bounded campaign with short runs goes on while it has confirmed nothing, for at most shortTime of monitored
	// runs, shortCPU of their processor time and mostShort of them: a schedule that one run in twenty makes costs seconds
	// there. A second is about the processor time of go test -race in a small module.
	shortTime = 5 * time.Second
	shortCPU  = time.Second
	mostShort = 60
)

const (
	// replayShare is how much of the campaign's time the replays may take, at least
	// leastReplay; of a bounded one, how much of the time for monitored runs is kept for them.
	replayShare        = 0.5
	boundedReplayShare = 0.2
	leastReplay        = 10 * time.Second
)

// timed adds to part how long the processes take that f runs.
func (s *spending) timed(part *time.Duration, tests *recorded.Runner, f func() error) error {
	began, cpu := tests.Spent, tests.CPU
	err := f()
	*part, s.unmonitored = *part+tests.Spent-began, s.unmonitored+tests.CPU-cpu
	return err
}

// allowed is how long the processes of a bounded campaign may take in all.
func (s *spending) allowed() time.Duration {
	exact := s.exact
	if exact == 0 {
		exact = withoutExact * s.plain
	}
	// A run that takes long without noise, as a test that hangs does, takes nothing from the monitored runs.
	return max(boundFactor*exact, s.plain+s.exact) + boundFloor
}

// bound takes up that run n is made, and has a bounded campaign make as many of the others as there is time for. The
// estimate is made anew behind each run.
func (c *campaign) bound(n int) {
	t := &c.time
	if n == 1 {
		t.asked = c.cfg.Runs
		if c.cfg.purpose(n) == run.Measuring {
			t.quiet = c.tests.Spent - t.plain - t.exact
		}
	}
	c.result.PerRun = c.perRun(n)
	if !c.cfg.Bounded {
		return
	}
	left := max(t.allowed()-c.tests.Spent-t.kept(), 0)
	c.cfg.Runs = min(t.asked, n+int(left/max(c.result.PerRun, time.Millisecond)))
	c.result.Unmade = max(t.asked-c.cfg.Runs, 0)
	if n >= t.asked && c.goesOn(n) {
		c.cfg.Runs = n + 1
	}
	// Noise may take up its whole budget, where no run has made any yet.
	most := time.Duration(c.cfg.Runs-n) * c.result.PerRun
	if n == 1 && t.quiet > 0 {
		most = min(left, child.Stretch(most, c.cfg.Noise.Budget))
	}
	e := Event{Kind: Bounded, Run: n, Runs: c.cfg.Runs}
	if further := c.furtherRuns(n); further > 0 {
		e.Further, most = further, max(most, shortTime-c.monitored())
	}
	e.Elapsed = c.asLoaded(most + afterRuns(max(t.allowed()-c.tests.Spent-most, t.kept())))
	c.progress(e)
}

// afterRuns is how long searches and replays may take where so much is left to them: the searches take three quarters
// at most, and the replays as much as that leaves, or their least.
func afterRuns(left time.Duration) time.Duration { return max(left, left*3/4+leastReplay) }

// furtherRuns is how many runs may be made beyond those asked for, estimated from runs 1 to n.
func (c *campaign) furtherRuns(n int) int {
	left := int((shortTime - c.monitored()) / max(c.result.PerRun, time.Millisecond))
	return min(n+left, mostShort) - c.time.asked
}

// asLoaded converts a time on the idle machine into the time on the machine with its other work.
func (c *campaign) asLoaded(d time.Duration) time.Duration {
	return time.Duration(float64(d) * c.tests.Slowed())
}

// goesOn reports whether one more run is made behind run n, beyond those asked for.
func (c *campaign) goesOn(n int) bool {
	cpu := c.tests.CPU - c.time.unmonitored
	if n >= mostShort || c.monitored()+c.result.PerRun > shortTime || cpu+cpu/time.Duration(n) > shortCPU {
		return false
	}
	c.finish()
	return !slices.ContainsFunc(c.result.Findings, func(f *finding.Finding) bool { return f.Status == finding.Confirmed })
}

// perRun is how long a run is taken to last behind run n: as the mean of those that made noise, or else as the one
// that made none.
func (c *campaign) perRun(n int) time.Duration {
	if c.time.quiet > 0 && n > 1 {
		return (c.monitored() - c.time.quiet) / time.Duration(n-1)
	}
	return c.monitored() / time.Duration(n)
}

// monitored is how long the monitored runs have taken so far.
func (c *campaign) monitored() time.Duration { return c.tests.Spent - c.time.plain - c.time.exact }

// kept is the part of the time of a bounded campaign that is kept for replays.
func (s *spending) kept() time.Duration {
	monitored := s.allowed() - s.plain - s.exact
	return max(time.Duration(boundedReplayShare*float64(monitored)), leastReplay)
}

// leastTry is how long the replays of a command may take in a bounded campaign, whatever the others take: a run in
// which a test hangs takes two seconds until that is certain.
const leastTry = 2500 * time.Millisecond

// replayTime is how long the replays of so many commands may take.
func (c *campaign) replayTime(commands int) time.Duration {
	if c.cfg.Bounded {
		least := max(leastReplay, min(time.Duration(commands)*leastTry, boundFloor))
		return c.asLoaded(max(c.time.allowed()-c.tests.Spent, least))
	}
	return c.asLoaded(max(time.Duration(replayShare*float64(c.tests.Spent)), leastReplay))
}

// shareReplays allots an equal share of the time for replays to the next finding; left is how many findings remain.
func (c *campaign) shareReplays(left int) {
	c.time.share = time.Now().Add(time.Until(c.time.end) / time.Duration(left))
}

// isLate reports whether the time for the replays of a finding is over, in a bounded campaign.
func (c *campaign) isLate() bool { return c.cfg.Bounded && time.Now().After(c.time.share) }
