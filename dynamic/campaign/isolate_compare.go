package campaign

import (
	"context"
	"strings"
	"time"

	"github.com/interlock-go/interlock/dynamic/campaign/arm"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/crossing"
	"github.com/interlock-go/interlock/dynamic/campaign/judge"
)

const (
	// mostRounds is how many rounds of runs are tried: some say nothing. Behind nearRuns,
	// further ones are made only where chance is less likely than nearChance to be why the test fails more often.
	mostRounds = 40
	nearRuns   = 12
	nearChance = 0.05
)

// try makes runs of the kinds until they decide, and returns nil where they do not show that the test fails by that.
func (s *isolation) try(ctx context.Context, at arm.Visit, x crossing.Crossing, order int) (*judge.Explained, error) {
	// The pause ahead must differ from that in the section, and a test that waits for a time may look too early.
	if x.Before == at.Place && at.Nth <= 1 || x.Meant(s.cfg.Plan, s.seen.Pkgs) || x.ReadsOnly() && s.testWaits() {
		return nil, nil
	}
	s.tried++
	e := &judge.Explained{Crossing: x, Pkg: s.pkg.Package, Test: s.test, At: at, Tried: s.tried}
	for range mostRounds {
		for kind, what := range e.Runs() {
			if e.Counts[kind].Runs == judge.MostRuns || what == "" {
				continue
			}
			if ctx.Err() != nil || time.Now().After(s.end) {
				return nil, nil
			}
			r, err := s.run(ctx, what, order)
			if err != nil {
				return nil, err
			}
			e.Count(kind, r)
		}
		if e.Significant() {
			return e, nil
		}
		if e.Hopeless() || e.Counts[judge.PausedInside].Runs >= nearRuns && e.Chance() > nearChance {
			break
		}
	}
	return nil, nil
}

// testWaits reports whether the test may wait for others to get on by time, or by polling.
func (s *isolation) testWaits() bool {
	var named []string
	if s.test != "" {
		named = strings.Split(s.test, "|")
	}
	return s.pkg.CountsOnTime(named) || crossing.Polls(s.seen.Pkgs, s.pkg.Package)
}
