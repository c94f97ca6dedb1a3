package judge

import (
	"cmp"
	"fmt"
	"time"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/dynamic/campaign/arm"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/crossing"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/fisher"
	"github.com/interlock-go/interlock/dynamic/campaign/run"
)

// The kinds of runs.
const (
	PausedInside = iota
	pausedApart
	pausedAhead
)

func (f *Failures) Count(failed bool) {
	if f.Runs++; failed {
		f.Failed++
	}
}

const (
	// MostRuns is how many runs of a kind are made.
	MostRuns = 24
	// hopelessRuns is how many runs are made of a section that explains few failures.
	hopelessRuns = 3
)

// Runs returns the orders to the monitor in each kind of runs; "" for a kind that is not made.
func (e *Explained) Runs() [3]string {
	pause := PauseAt(e.At, run.PauseLength)
	all := [3]string{
		PausedInside: fmt.Sprintf("%s,near=%v", pause, e.Out),
		pausedApart:  fmt.Sprintf("%s,out=%v,until=%v", pause, e.Out, e.Last.At()),
	}
	if !e.IsEarly() { // another goroutine may be in the same section
		all[pausedApart] += fmt.Sprintf(",from=%v,out=%v", e.Before, e.Before)
		all[pausedAhead] = fmt.Sprintf("%s,near=%v", PauseAt(e.ahead(), run.PauseLength), e.Out)
	}
	return all
}

// ahead returns where goroutines are held ahead of the section: where it begins and is held at one place, at the visit
// before.
func (e *Explained) ahead() arm.Visit {
	if e.Before == e.At.Place {
		return arm.Visit{Place: e.Before, Nth: e.At.Nth - 1}
	}
	return arm.Visit{Place: e.Before}
}

// Count takes up a run of a kind, unless it says nothing.
func (e *Explained) Count(kind int, r *IsolatedRun) {
	otherwise := e.IsEarly() && r.Failed && r.Panicked == 0
	if r.Unusable || kind == PausedInside && otherwise {
		return
	}
	e.Counts[kind].Count(r.Failed)
	if kind == PausedInside && r.Failed {
		e.said, e.seed = cmp.Or(e.said, r.Said), r.Seed
	}
}

// Significant reports whether the test fails in runs of the first kind more often than chance has it. That is asked
// behind each round, and of several crossings.
func (e *Explained) Significant() bool { return e.Chance() <= level/float64(MostRuns*e.Tried) }

// Chance returns how likely it is that the test fails so much more often in runs of the first kind than in those of
// another one by chance alone: the larger one of the likelihoods.
func (e *Explained) Chance() (most float64) {
	in := e.Counts[PausedInside]
	for kind, what := range e.Runs() {
		if kind == PausedInside || what == "" {
			continue
		}
		other := e.Counts[kind]
		most = max(most, fisher.Exceedance([]fisher.Table{{
			FailedSplit: in.Failed, PassedSplit: in.Runs - in.Failed,
			FailedWhole: other.Failed, PassedWhole: other.Runs - other.Failed,
		}}))
	}
	return most
}

// Hopeless reports whether the runs so far speak against the split.
func (e *Explained) Hopeless() bool {
	in := e.Counts[PausedInside]
	return in.Runs >= hopelessRuns && (4*in.Failed < in.Runs ||
		2*max(e.Counts[pausedApart].Failed, e.Counts[pausedAhead].Failed) > max(in.Failed, 1))
}

// PauseAt returns a pause at a place as the monitor reads it.
func PauseAt(v arm.Visit, length time.Duration) string {
	return arm.PauseList([]arm.Pause{{Visit: v, Length: length}})
}

// IsolatedRun is the result of one run with a pause.
type IsolatedRun struct {
	Failed   bool
	Held     bool            // a goroutine was
	Unusable bool            // nothing follows from it: nobody was held, no other goroutine came, or one was not kept away
	Panicked int64           // the goroutine that has ended the process by an error of the runtime in the program's code
	FailedAt []finding.Frame // its stack
	Tests    []string        // that failed
	Said     string          // how
	Seed     uint64
	Reached  map[uint32]bool
	Steps    []crossing.Step
}
