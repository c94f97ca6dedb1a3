package run

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/testproc"
)

// A test that fails under noise alone, and that no finding explains, is run again with one pause at a time, until a
// place is found at which a goroutine has to be held for the test to fail. The steps of such a run show which accesses
// of other goroutines split its operation (package crossing). Then runs of three kinds decide whether the split is why
// the test fails, see [judge.Explained]. Tests that have not failed are tried as well, for a shorter time: noise at
// random may never have come into a section that a pause of this length finds at once.

// PauseLength is for how long a goroutine is held: long enough for whole operations of the others.
const PauseLength = 10 * time.Millisecond

// AfterColon returns the words of a test behind a colon.
func AfterColon(said string) string {
	if said == "" {
		return ""
	}
	return ": " + said
}

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
			PauseLength, test, strings.Join(u.Places, ", "), AfterColon(u.Said), u.Stored)
	}
	text += "replay: " + u.Replay
	if u.Runs > 0 {
		text += fmt.Sprintf(" (failed again in %s)", finding.OfRuns(u.Hits, u.Runs))
	}
	return text
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

// FailureOf describes a run of a package's tests that did not pass.
func FailureOf(p *testproc.Process, run int, seed uint64, strength int) *Failure {
	return &Failure{
		Run: run, Seed: seed, Strength: strength,
		Outcome: p.Outcome, Tests: p.FailedTests(), Said: p.Said(), Output: string(p.Output), Elapsed: p.Elapsed,
	}
}

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
