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
)

// Unexplained is a test that fails under noise alone, and for which no search has found why.
type Unexplained struct {
	Test   string   // "" is all of the package
	Places []string // before which a pause makes it fail, each with its rate, the most often first
	Said   string   // how it fails then, or ""
	Stored string   // which store of another goroutine the value is of that it fails by, or ""
	// Replay is a command under which it fails, Hits of the Runs that were tried.
	Replay     string
	Hits, Runs int
}

// String returns the known facts in words.
func (u *Unexplained) String() string {
	test, text := cmp.Or(u.Test, "the tests"), ""
	if u.Test != "" {
		test += " fails"
	} else {
		test += " fail"
	}
	if len(u.Places) > 0 {
		text = fmt.Sprintf("with a pause of %v, %s %s%s%s, and no access of another goroutine was found to be why; ",
			pauseLength, test, strings.Join(u.Places, ", "), after(u.Said), u.Stored)
	}
	text += "replay: " + u.Replay
	if u.Runs > 0 {
		text += fmt.Sprintf(" (failed again in %s)", finding.OfRuns(u.Hits, u.Runs))
	}
	return text
}

// mostPlaces is how many places are named of one test.
const mostPlaces = 3

// failuresAt is how often a test has failed with a pause at one place.
type failuresAt struct {
	failures
	seed   uint64 // of the latest of them
	said   string
	stored string // see Unexplained
}

// countAt takes up a run with a pause at a place.
func (s *isolation) countAt(at arm.Visit, r *isolatedRun) {
	seen := s.seenAt[at]
	if seen == nil {
		if !r.failed {
			return // the next runs there are counted only where one fails: most places have one run each
		}
		seen = new(failuresAt)
		s.seenAt[at] = seen
	}
	if seen.count(r.failed); r.failed {
		seen.seed, seen.said = r.seed, cmp.Or(r.said, seen.said)
	}
}

// noteStore takes up which store of another goroutine the value is of that a run fails by, where its steps show that.
func (s *isolation) noteStore(at arm.Visit, r *isolatedRun) {
	read, store, ok := crossing.LastStore(r.steps, r.panicked, r.failedAt)
	if !ok || r.panicked == 0 || s.seenAt[at] == nil {
		return
	}
	of, by := s.seen.access(&s.cfg.Settings, side(&read)), s.seen.access(&s.cfg.Settings, side(&store))
	s.seenAt[at].stored = fmt.Sprintf(" (another goroutine has stored the value of %s last, at %s:%d in %s)", of.Expr,
		by.Position.File, by.Position.Line, by.Function)
}

// leaveUnexplained takes up that the test fails and nothing is known to be why, with a command that shows it again: at
// the place where a pause makes it fail most often, or else as in the run in which it has failed.
func (s *isolation) leaveUnexplained(ctx context.Context) {
	places := slices.SortedFunc(maps.Keys(s.seenAt), func(a, b arm.Visit) int {
		p, q := s.seenAt[a], s.seenAt[b]
		return cmp.Or(cmp.Compare(q.failed*p.runs, p.failed*q.runs), cmp.Compare(q.failed, p.failed),
			strings.Compare(s.seen.pauseText(a), s.seen.pauseText(b)))
	})
	places = slices.DeleteFunc(places, func(v arm.Visit) bool { return s.seenAt[v].failed < fewFailures })
	u := Unexplained{Test: s.test}
	r := replay{pkg: s.pkg.Package, test: s.test}
	switch f := s.pkg.UnderNoiseFirst; {
	case len(places) > 0:
		best := s.seenAt[places[0]]
		r.seed, r.pause, u.Said, u.Stored = best.seed, s.seen.pauseText(places[0]), best.said, best.stored
	case f != nil:
		r.seed, r.strength = f.Seed, f.Strength
	default:
		return // one failure in many runs, at a place that shows it no more
	}
	for _, v := range places[:min(len(places), mostPlaces)] {
		u.Places = append(u.Places, fmt.Sprintf("before %s in %v", s.seen.visitText(v), s.seenAt[v].failures))
	}
	s.replayUnexplained(ctx, &u, r)
	s.pkg.Unexplained = append(s.pkg.Unexplained, u)
}

// replayUnexplained tries the command as that of a finding.
func (s *isolation) replayUnexplained(ctx context.Context, u *Unexplained, r replay) {
	evidence := &finding.Evidence{Replay: r.command(&s.cfg.Settings)}
	tried := shown{&finding.Finding{Evidence: evidence}, r, (*tally).testsFail}
	if s.cfg.Replay.Tries > 0 {
		s.time.share = time.Now().Add(leastTry)
		s.measureReplay(ctx, &tried, r.ways())
	}
	e := tried.Evidence
	u.Replay, u.Hits, u.Runs = e.Replay, e.ReplayHits, e.ReplayRuns
}
