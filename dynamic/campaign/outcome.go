package campaign

import (
	"slices"
	"strings"
	"time"

	"github.com/interlock-go/interlock/dynamic/campaign/internal/testproc"
	"github.com/interlock-go/interlock/dynamic/evidence"
	"github.com/interlock-go/interlock/dynamic/schedule"
)

// Outcome is how the tests of a package went, whatever the monitor caught.
type Outcome = testproc.Outcome

// The outcomes, see package testproc.
const (
	Passed   = testproc.Passed
	Failed   = testproc.Failed
	Panicked = testproc.Panicked
	TimedOut = testproc.TimedOut
	Crashed  = testproc.Crashed
	Hung     = testproc.Hung
	CutShort = testproc.CutShort
)

// PackageResult is how the tests of one package went over all runs.
type PackageResult struct {
	Package  string
	NoTests  bool // no test files
	Runs     int
	Failures int // runs in which they did not pass
	// First is the first failure, nil if there is none; Alike is the first of a run that failed as one without noise did.
	First, Alike *Failure
	// Plain is how the tests went with the monitor asleep: in one run before
	// all others and, after the first failure that it does not explain, in
	// another. It is Passed if they passed in both, "" if there was none.
	Plain     Outcome
	PlainTime time.Duration // that the run before all others took
	// Limit is when a monitored run was ended from outside; 0 is never.
	Limit time.Duration
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

	// PlainFailure is how the run before all others failed, nil if it passed. The
	// tests fail then, whatever the monitored runs do.
	PlainFailure *Failure
	// ExactFailure is how the tests failed in the run under the happens-before engine before the monitored ones, and not
	// without it; nil if they did not. SeenExactly says so in a line, with the command that runs them so again.
	ExactFailure *Failure
	SeenExactly  string
	// NotCompleted counts the runs that Interlock ended and could not complete with
	// less noise either; FirstCut is the first run that it ended.
	NotCompleted int
	FirstCut     *Failure

	// NoneRan reports whether there are tests of which the flags chose none.
	NoneRan bool
	// Spared are tests that hung under noise, or failed as they count on time. They run
	// by themselves in every fourth run, with fainter noise.
	Spared []string
	// LeftOut are tests that monitored runs left out, since they hang without noise.
	LeftOut []string
	// Skipped are tests that skipped themselves in the run without noise, each with its reason;
	// see Config.NameSkipped.
	Skipped []string

	auto      *schedule.Auto     // where its planned runs hold goroutines
	size      evidence.Counters  // summed over its runs
	locks     schedule.Locks     // and between which locks
	drFinder  *schedule.DrFinder // before which locks, by that schedule; nil for others
	learned   lessons            // for later campaigns
	knewExact bool               // earlier campaigns ran its tests under the happens-before engine
	allTests  []string           // top-level ones
	// sparedStrength is that of the noise in runs of spared tests, in microseconds.
	sparedStrength int
	bearable       int             // strength that tests which count on time can stand
	clockTests     map[string]bool // those that may count on time
	plainTests     []string        // that failed without noise
	ended          []string        // that failed under noise alone in a run that ended by itself; "" where none is named
	plainOthers    Outcome         // how the tests that do not hang went without noise, where some do; else ""
	plainReport    []byte          // the output of the run before all others, if it failed
	share          float64         // of a processor that it used
	repeats        int             // of runs that Interlock has ended
	hangs          bool            // without noise, in no test that is known
	noAlarm        bool            // see testproc.Options
	hung           int             // monitored runs in which a test waited for ever
}

// Failure is one run of a package's tests that did not pass.
type Failure struct {
	Run      int
	Seed     uint64
	Strength int // of the noise, in microseconds
	Outcome  Outcome
	Tests    []string // top-level ones that failed or hung, where the output names some
	Said     string   // the first line by which they say why they failed, or ""
	Waits    []string // where they wait that hang, the tests first: "in mu.Lock() at a.go:3"
	Output   string
	Elapsed  time.Duration
	Busy     bool // the machine was: the process could have used much more of it
}

// failureOf describes a run of a package's tests that did not pass.
func failureOf(p *testproc.Process, run int, seed uint64, strength int) *Failure {
	return &Failure{
		Run: run, Seed: seed, Strength: strength,
		Outcome: p.Outcome, Tests: p.FailedTests(), Said: p.Said(), Output: string(p.Output), Elapsed: p.Elapsed,
	}
}

// Fails reports whether the tests failed, with the monitor or without.
func (pkg *PackageResult) Fails() bool { return pkg.Failures > 0 || pkg.PlainFailure != nil }

// verbose reports whether the tests were asked to print passing tests too.
func (c *campaign) verbose() bool {
	return slices.ContainsFunc(c.cfg.Tests.Flags, func(f string) bool {
		name, value, has := strings.Cut(strings.TrimLeft(f, "-"), "=")
		return (name == "test.v" || name == "test.bench") && (!has || value != "false")
	})
}

// countsOnTime reports whether one of the tests may, or any where none is named.
func (pkg *PackageResult) countsOnTime(tests []string) bool {
	if len(tests) == 0 {
		return len(pkg.clockTests) > 0
	}
	return slices.ContainsFunc(tests, func(t string) bool { return pkg.clockTests[t] })
}
