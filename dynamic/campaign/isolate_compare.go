package campaign

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/interlock-go/interlock/dynamic/campaign/arm"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/crossing"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/fisher"
)

// explained is the reason why a test fails that passes without noise: a pause in a section of one goroutine, which
// another one splits. Runs of three kinds show that, with the pause
//
//   - in the section: the test fails,
//   - there as well, while the others are kept away until the section has ended: it passes,
//   - ahead of the section, which makes its goroutine as late and splits nothing: it passes.
//
// A test that fails since somebody is late fails in the third kind, too. If it fails since a goroutine reads a variable
// that another has not stored yet, there is no section, and no third kind.
type explained struct {
	crossing.Crossing
	pkg, test string
	seed      uint64    // of a run in which the test fails
	said      string    // how
	at        arm.Visit // where goroutines are held
	tried     int       // crossings of this campaign, this one included
	counts    [3]failures
}

// The kinds of runs.
const (
	pausedInside = iota
	pausedApart
	pausedAhead
)

// failures counts runs of a kind.
type failures struct{ failed, runs int }

func (f *failures) count(failed bool) {
	if f.runs++; failed {
		f.failed++
	}
}

const (
	// mostRuns is how many runs of a kind are made, mostRounds how many are tried: some say nothing. Behind nearRuns,
	// further ones are made only where chance is less likely than nearChance to be why the test fails more often.
	mostRuns   = 24
	mostRounds = 40
	nearRuns   = 12
	nearChance = 0.05
	// hopelessRuns is how many runs are made of a section that explains few failures.
	hopelessRuns = 3
)

// try makes runs of the kinds until they decide, and returns nil where they do not show that the test fails by that.
func (s *isolation) try(ctx context.Context, at arm.Visit, x crossing.Crossing, order int) (*explained, error) {
	// The pause ahead must differ from that in the section, and a test that waits for a time may look too early.
	if x.Before == at.Place && at.Nth <= 1 || x.Meant(s.cfg.Plan, s.seen.pkgs) || x.ReadsOnly() && s.testWaits() {
		return nil, nil
	}
	s.tried++
	e := &explained{Crossing: x, pkg: s.pkg.Package, test: s.test, at: at, tried: s.tried}
	for range mostRounds {
		for kind, what := range e.runs() {
			if e.counts[kind].runs == mostRuns || what == "" {
				continue
			}
			if ctx.Err() != nil || time.Now().After(s.end) {
				return nil, nil
			}
			r, err := s.run(ctx, what, order)
			if err != nil {
				return nil, err
			}
			e.count(kind, r)
		}
		if e.significant() {
			return e, nil
		}
		if e.hopeless() || e.counts[pausedInside].runs >= nearRuns && e.chance() > nearChance {
			break
		}
	}
	return nil, nil
}

// runs returns the orders to the monitor in each kind of runs; "" for a kind that is not made.
func (e *explained) runs() [3]string {
	pause := pauseAt(e.at, pauseLength)
	all := [3]string{
		pausedInside: fmt.Sprintf("%s,near=%v", pause, e.Out),
		pausedApart:  fmt.Sprintf("%s,out=%v,until=%v", pause, e.Out, e.Last.At()),
	}
	if !e.IsEarly() { // another goroutine may be in the same section
		all[pausedApart] += fmt.Sprintf(",from=%v,out=%v", e.Before, e.Before)
		all[pausedAhead] = fmt.Sprintf("%s,near=%v", pauseAt(e.ahead(), pauseLength), e.Out)
	}
	return all
}

// ahead returns where goroutines are held ahead of the section: where it begins and is held at one place, at the visit
// before.
func (e *explained) ahead() arm.Visit {
	if e.Before == e.at.Place {
		return arm.Visit{Place: e.Before, Nth: e.at.Nth - 1}
	}
	return arm.Visit{Place: e.Before}
}

// count takes up a run of a kind, unless it says nothing.
func (e *explained) count(kind int, r *isolatedRun) {
	otherwise := e.IsEarly() && r.failed && r.panicked == 0
	if r.unusable || kind == pausedInside && otherwise {
		return
	}
	e.counts[kind].count(r.failed)
	if kind == pausedInside && r.failed {
		e.said, e.seed = cmp.Or(e.said, r.said), r.seed
	}
}

// significant reports whether the test fails in runs of the first kind more often than chance has it. That is asked
// behind each round, and of several crossings.
func (e *explained) significant() bool { return e.chance() <= level/float64(mostRuns*e.tried) }

// chance returns how likely it is that the test fails so much more often in runs of the first kind than in those of
// another one by chance alone: the larger one of the likelihoods.
func (e *explained) chance() (most float64) {
	in := e.counts[pausedInside]
	for kind, what := range e.runs() {
		if kind == pausedInside || what == "" {
			continue
		}
		other := e.counts[kind]
		most = max(most, fisher.Exceedance([]fisher.Table{{
			FailedSplit: in.failed, PassedSplit: in.runs - in.failed,
			FailedWhole: other.failed, PassedWhole: other.runs - other.failed,
		}}))
	}
	return most
}

// hopeless reports whether the runs so far speak against the split.
func (e *explained) hopeless() bool {
	in := e.counts[pausedInside]
	return in.runs >= hopelessRuns && (4*in.failed < in.runs ||
		2*max(e.counts[pausedApart].failed, e.counts[pausedAhead].failed) > max(in.failed, 1))
}

// testWaits reports whether the test may wait for others to get on by time, or by polling.
func (s *isolation) testWaits() bool {
	var named []string
	if s.test != "" {
		named = strings.Split(s.test, "|")
	}
	return s.pkg.countsOnTime(named) || crossing.Polls(s.seen.pkgs, s.pkg.Package)
}

// pauseAt returns a pause at a place as the monitor reads it.
func pauseAt(v arm.Visit, length time.Duration) string {
	return arm.PauseList([]arm.Pause{{Visit: v, Length: length}})
}
