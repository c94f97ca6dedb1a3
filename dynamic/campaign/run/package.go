package run

import (
	"slices"
	"strings"
	"time"

	"github.com/interlock-go/interlock/dynamic/campaign/internal/testproc"
	"github.com/interlock-go/interlock/dynamic/evidence"
	"github.com/interlock-go/interlock/dynamic/schedule"
)

// Upset lists the tests that failed as none did without noise, and ended: by their whole names, those below others too.
func (pkg *Package) Upset(p *testproc.Process) []string {
	if p.Outcome != Failed {
		return nil
	}
	return slices.DeleteFunc(slices.Concat(p.FailedTests(), p.FailedSubtests()), func(t string) bool {
		top, _, _ := strings.Cut(t, "/")
		return slices.Contains(pkg.PlainTests, top)
	})
}

// A test that hangs under noise, or that fails by its own time limit, is no reason to
// have the others run with less noise, nor to lose their evidence. It is spared: the
// other runs leave it out, and every fourth run is of spared tests alone, with noise
// that grows fainter until they stand it.

// SparedEvery is how many runs there are for each one of spared tests.
const SparedEvery = 4

// Sparing reports whether run n of the package is one of spared tests alone.
func (pkg *Package) Sparing(n int) bool { return len(pkg.Spared) > 0 && n%SparedEvery == 0 }

// TestsIn returns which tests run n of the package leaves out, and which it is of alone,
// as a pattern: "" is all.
func (pkg *Package) TestsIn(n int) (leaveOut []string, only string) {
	if pkg.Sparing(n) {
		return pkg.LeftOut, strings.Join(pkg.Spared, "|")
	}
	return slices.Concat(pkg.LeftOut, pkg.Spared), ""
}

// LikePlain reports whether a run passed, or failed as one without noise did: that of all tests, or that of those which
// do not hang, where the run left out others.
func (pkg *Package) LikePlain(p *testproc.Process) bool {
	if p.Outcome == Passed || p.Outcome == CutShort || pkg.Plain == "" {
		return true
	}
	failed := p.FailedTests()
	for _, t := range failed {
		if !slices.Contains(pkg.PlainTests, t) {
			return false
		}
	}
	return p.Outcome == pkg.Plain || p.Outcome == pkg.PlainOthers || p.Outcome == Failed && len(failed) > 0
}

// Package is how the tests of one package went over all runs.
type Package struct {
	Package  string
	NoTests  bool // no test files
	NoneRan  bool // there are tests, and the flags chose none
	Runs     int
	Failures int // runs in which they did not pass
	// First is the first failure, nil if there is none; Alike is the first of a run that failed as one without noise did.
	First, Alike *Failure
	WithoutNoise
	UnderNoiseOnly
	UnderExact
	EndedEarly
	NotIn
	State `json:"-"`
}

// WithoutNoise is how the tests of a package went without noise.
type WithoutNoise struct {
	// Plain is how the tests went with the monitor asleep: in one run before
	// all others and, after the first failure that it does not explain, in
	// another. It is Passed if they passed in both, "" if there was none.
	Plain     Outcome
	PlainTime time.Duration // that the run before all others took
	// Limit is when a monitored run was ended from outside; 0 is never.
	Limit time.Duration
	// PlainFailure is how the run before all others failed, nil if it passed. The
	// tests fail then, whatever the monitored runs do.
	PlainFailure *Failure
	// Skipped are tests that skipped themselves in the run without noise, each with its reason;
	// see Tests.NameSkipped.
	Skipped []string
}

// UnderNoiseOnly is how the tests of a package failed as they did not without noise.
type UnderNoiseOnly struct {
	// UnderNoise counts the runs that failed as none without noise did, and
	// UnderNoiseFirst is the first of them; Tests are the tests that failed so,
	// where the output names some.
	UnderNoise      int
	UnderNoiseFirst *Failure
	Tests           []string
	// Unexplained are those of them, and tests that fail by a pause at one place alone, of which nothing shows why.
	Unexplained []Unexplained
	// Strength is that of the noise in the end, in microseconds, if it was
	// weakened since the tests depend on timing; 0 if it was not.
	Strength int
}

// UnderExact is how the tests of a package failed in the run under the happens-before engine before the monitored ones.
type UnderExact struct {
	// ExactFailure is how they failed there and not without the engine; nil if they did not. SeenExactly says so in a
	// line, with the command that runs them so again.
	ExactFailure *Failure
	SeenExactly  string
}

// EndedEarly has the runs of a package that Interlock ended.
type EndedEarly struct {
	// NotCompleted counts those that could not be completed with less noise either; FirstCut is the first run that it
	// ended.
	NotCompleted int
	FirstCut     *Failure
}

// NotIn are the tests of a package that are not in all monitored runs.
type NotIn struct {
	// Spared are tests that hung under noise, or failed as they count on time. They run
	// by themselves in every fourth run, with fainter noise.
	Spared []string
	// LeftOut are tests that monitored runs left out, since they hang without noise.
	LeftOut []string
}

// State is what later runs of a package need to know of the earlier ones.
type State struct {
	Plan
	InSource
	// The run without noise.
	PlainTests  []string // that failed
	PlainOthers Outcome  // how the tests that do not hang went, where some do; else ""
	PlainReport []byte   // the output, if it failed
	Share       float64  // of a processor that it used
	Hangs       bool     // in no test that is known
	// The monitored runs.
	SparedStrength int      // of the noise in runs of spared tests, in microseconds
	Ended          []string // tests that failed under noise alone in a run that ended by itself; "" where none is named
	Repeats        int      // of runs that Interlock has ended
	noAlarm        bool     // see testproc.Options
	Hung           int      // in which a test waited for ever
}

// Plan plans the runs of a package.
type Plan struct {
	Auto      *schedule.Auto     // where planned runs hold goroutines
	Locks     schedule.Locks     // and between which locks
	DrFinder  *schedule.DrFinder // before which locks, by that schedule; nil for others
	Size      evidence.Counters  // summed over its runs
	Learned   lessons            // for later campaigns
	KnewExact bool               // earlier campaigns ran its tests under the happens-before engine
}

// InSource has the tests of a package as the source shows them.
type InSource struct {
	AllTests   []string        // top-level ones
	Bearable   int             // strength that tests which count on time can stand
	ClockTests map[string]bool // those that may count on time
}

// Fails reports whether the tests failed, with the monitor or without.
func (pkg *Package) Fails() bool { return pkg.Failures > 0 || pkg.PlainFailure != nil }

// CountsOnTime reports whether one of the tests may, or any where none is named.
func (pkg *Package) CountsOnTime(tests []string) bool {
	if len(tests) == 0 {
		return len(pkg.ClockTests) > 0
	}
	return slices.ContainsFunc(tests, func(t string) bool { return pkg.ClockTests[t] })
}
