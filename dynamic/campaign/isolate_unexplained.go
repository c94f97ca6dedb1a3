package campaign

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/dynamic/campaign/arm"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/crossing"
	"github.com/interlock-go/interlock/dynamic/campaign/judge"
	"github.com/interlock-go/interlock/dynamic/campaign/run"
)

// mostPlaces is how many places are named of one test.
const mostPlaces = 3

// countAt takes up a run with a pause at a place.
func (s *isolation) countAt(at arm.Visit, r *judge.IsolatedRun) {
	seen := s.seenAt[at]
	if seen == nil {
		if !r.Failed {
			return // the next runs there are counted only where one fails: most places have one run each
		}
		seen = new(failuresAt)
		s.seenAt[at] = seen
	}
	if seen.Count(r.Failed); r.Failed {
		seen.seed, seen.said = r.Seed, cmp.Or(r.Said, seen.said)
	}
}

// noteStore takes up which store of another goroutine the value is of that a run fails by, where its steps show that.
func (s *isolation) noteStore(at arm.Visit, r *judge.IsolatedRun) {
	read, store, ok := crossing.LastStore(r.Steps, r.Panicked, r.FailedAt)
	if !ok || r.Panicked == 0 || s.seenAt[at] == nil {
		return
	}
	of, by := s.seen.Access(&s.cfg.Settings, judge.Side(&read)), s.seen.Access(&s.cfg.Settings, judge.Side(&store))
	s.seenAt[at].stored = fmt.Sprintf(" (another goroutine has stored the value of %s last, at %s:%d in %s)", of.Expr,
		by.Position.File, by.Position.Line, by.Function)
}

// leaveUnexplained takes up that the test fails and nothing is known to be why, with a command that shows it again: at
// the place where a pause makes it fail most often, or else as in the run in which it has failed.
func (s *isolation) leaveUnexplained(ctx context.Context) {
	places := slices.SortedFunc(maps.Keys(s.seenAt), func(a, b arm.Visit) int {
		p, q := s.seenAt[a], s.seenAt[b]
		return cmp.Or(cmp.Compare(q.Failed*p.Runs, p.Failed*q.Runs), cmp.Compare(q.Failed, p.Failed),
			strings.Compare(s.seen.PauseText(a), s.seen.PauseText(b)))
	})
	places = slices.DeleteFunc(places, func(v arm.Visit) bool { return s.seenAt[v].Failed < fewFailures })
	u := run.Unexplained{Test: s.test}
	r := run.Replay{Pkg: s.pkg.Package, Test: s.test}
	switch f := s.pkg.UnderNoiseFirst; {
	case len(places) > 0:
		best := s.seenAt[places[0]]
		r.Seed, r.Pause, u.Said, u.Stored = best.seed, s.seen.PauseText(places[0]), best.said, best.stored
	case f != nil:
		r.Seed, r.Strength = f.Seed, f.Strength
	default:
		return // one failure in many runs, at a place that shows it no more
	}
	for _, v := range places[:min(len(places), mostPlaces)] {
		u.Places = append(u.Places, fmt.Sprintf("before %s in %v", s.seen.VisitText(v), s.seenAt[v].Failures))
	}
	s.replayUnexplained(ctx, &u, r)
	s.pkg.Unexplained = append(s.pkg.Unexplained, u)
}

// replayUnexplained tries the command as that of a finding.
func (s *isolation) replayUnexplained(ctx context.Context, u *run.Unexplained, r run.Replay) {
	evidence := &finding.Evidence{Replay: r.Command(&s.cfg.Settings)}
	tried := judge.Shown{Finding: &finding.Finding{Evidence: evidence}, Replay: r, Again: (*judge.Tally).TestsFail}
	if s.cfg.Replay.Tries > 0 {
		s.time.share = time.Now().Add(leastTry)
		s.measureReplay(ctx, &tried, r.Ways())
	}
	e := tried.Evidence
	u.Replay, u.Hits, u.Runs = e.Replay, e.ReplayHits, e.ReplayRuns
}
