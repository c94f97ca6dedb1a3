package campaign

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/interlock-go/interlock/dynamic/campaign/judge"
	"github.com/interlock-go/interlock/dynamic/campaign/run"
)

const (
	// selections is how many runs a way to replay a finding has to show it in one of.
	selections = 2
	// reliable is the rate from which no better way is looked for.
	reliable = 0.75
)

// measureReplays tries the replay commands of the findings: it chooses for each one
// that shows it, and counts in how many of Config.Replay.Tries further runs that does.
// Findings that there is no time for keep the command that was not tried.
func (c *campaign) measureReplays(ctx context.Context) {
	// A finding that is another's note by now needs no run.
	all := slices.DeleteFunc(c.seen.Shown, func(s judge.Shown) bool {
		return !slices.Contains(c.result.Findings, s.Finding)
	})
	slices.SortStableFunc(all, func(a, b judge.Shown) int { // the certain ones first, then those that one test shows
		return cmp.Or(cmp.Compare(a.Status, b.Status), -cmp.Compare(min(len(a.Replay.Test), 1), min(len(b.Replay.Test), 1)))
	})
	commands := map[run.Replay]bool{}
	for i := range all {
		commands[all[i].Replay] = true
	}
	most := c.replayTime(len(commands))
	c.time.end = time.Now().Add(most)
	isOver := func() bool { return c.cfg.Replay.Tries <= 0 || ctx.Err() != nil || time.Now().After(c.time.end) }
	var left []*judge.Shown
	for i := range all {
		if isOver() {
			return
		}
		c.progress(Event{Kind: Replaying, Run: i + 1, Runs: len(all), Package: all[i].Replay.Pkg, Elapsed: most})
		c.shareReplays(len(all) - i)
		s := &all[i]
		if c.measureReplay(ctx, s, c.waysToReplay(s)); s.Evidence.ReplayHits == 0 && s.Replay.Test != "" {
			left = append(left, s)
		}
	}
	// Other tests may have to come before: such runs take longest, and so come last.
	for i, s := range left {
		if isOver() {
			return
		}
		c.shareReplays(len(left) - i)
		whole := s.Replay
		whole.Test, whole.Hangs = "", cmp.Or(whole.Hangs, whole.Test)
		c.measureReplay(ctx, s, []run.Replay{whole})
	}
}

// measureReplay tries ways to replay a finding until one shows it reliably, and states the rate of the best. If none
// shows it, the finding keeps the command of the run that did.
func (c *campaign) measureReplay(ctx context.Context, s *judge.Shown, ways []run.Replay) {
	chosen := false
	for i, r := range ways {
		if i > 0 && c.isTooLate(&r) {
			return
		}
		tries := selections
		if i > 0 && r.Pause != "" {
			tries = 1 // there are many of these, and the right one shows the finding at once
		}
		hits, runs := c.tryReplay(ctx, s, r, 0, tries, 1)
		shows := hits > 0
		if shows {
			// Those that chose the way do not count.
			hits, runs = c.tryReplay(ctx, s, r, tries, c.cfg.Replay.Tries, c.cfg.Replay.Tries)
		}
		if ctx.Err() != nil {
			return
		}
		if e := s.Evidence; e.ReplayRuns == 0 || shows && (!chosen || hits > e.ReplayHits) {
			e.ReplayHits, e.ReplayRuns, e.Replay = hits, runs, r.Command(&c.cfg.Settings)
		}
		if chosen = chosen || shows; float64(s.Evidence.ReplayHits) >= reliable*float64(s.Evidence.ReplayRuns) && chosen {
			return
		}
	}
}

// tryReplay takes up to n runs of r from the one of number first, or fewer if enough have shown the finding.
// Findings of one command share its runs: leaks of a test are often many.
func (c *campaign) tryReplay(ctx context.Context, s *judge.Shown, r run.Replay, first, n, enough int) (hits, runs int) {
	for hits < enough && runs < n && ctx.Err() == nil {
		// Of a slow test, one more run is a rate: all of them may take longer than the campaign.
		if runs > 0 && c.isLate() {
			return hits, runs
		}
		for len(c.replayed[r]) <= first+runs {
			seen, err := c.replayOnce(ctx, r)
			if err != nil {
				return hits, runs
			}
			if c.replayed == nil {
				c.replayed = map[run.Replay][]*judge.Tally{}
			}
			c.replayed[r] = append(c.replayed[r], seen)
		}
		if s.Again(c.replayed[r][first+runs]) {
			hits++
		}
		runs++
	}
	return hits, runs
}
