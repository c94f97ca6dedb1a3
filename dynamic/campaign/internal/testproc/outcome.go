package testproc

import (
	"bytes"
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/interlock-go/interlock/dynamic/campaign/internal/stacktext"
)

// Outcome is how the tests of a package went, whatever the monitor caught.
type Outcome string

const (
	Passed   Outcome = "passed"
	Failed   Outcome = "failed"
	Panicked Outcome = "panicked"  // a panic or fatal error ended the process
	TimedOut Outcome = "timed out" // by the user's own deadline, or killed after it
	Crashed  Outcome = "crashed"   // ended by a signal
	// Hung: a test waits for an event that cannot come any more, as the collector or the runtime shows. Or it was still
	// waiting when Interlock ended it, though it is fast otherwise, and no goroutine was at work.
	Hung Outcome = "hung"
	// StoodStill: ended since all goroutines were blocked; whether a timer would have woken one is not known.
	StoodStill Outcome = "stood still"
	// Waited: ended since the tests had long waited for each other while others waited for timers and the network.
	Waited Outcome = "waited"
	// CutShort: ended by a time limit of Interlock's. That says nothing of the tests.
	CutShort Outcome = "not completed"
)

var (
	failLine = regexp.MustCompile(`(?m)^--- FAIL: (\S+) \(`)
	// skipLine is a test that skipped itself, with the line on either side that may have the reason: above
	// it where the output streams, else below.
	skipLine = regexp.MustCompile(`(?m)^(?: +\S+\.go:\d+: (.*)\n)?--- SKIP: (\S+) \(.*\)(?:\n +\S+\.go:\d+: (.*))?$`)
)

// classify distinguishes outcomes by the exit and, for a process that ended
// itself, by the words of the runtime and of package testing.
func classify(p *Process) Outcome {
	message := stacktext.PanicMessage(p.Crash)
	timedOut := p.Killed || p.Exit == 2 && strings.HasPrefix(message, "test timed out after ")
	switch {
	case timedOut && p.ours:
		return CutShort
	case timedOut:
		return TimedOut
	case p.Exit == 0:
		return Passed
	case p.Exit == 2 && (strings.HasPrefix(message, "the tests wait for ever: ") || bytes.HasPrefix(p.Crash, asleepLine)):
		return Hung
	case p.Exit == 2 && strings.HasPrefix(message, "the tests stand still: "):
		return StoodStill
	case p.Exit == 2 && strings.HasPrefix(message, "the tests wait for each other: "):
		return Waited
	case p.Exit == 2 && len(p.Crash) > 0:
		return Panicked
	case p.Exit < 0:
		return Crashed
	}
	return Failed
}

// Hangs reports whether the process ended because tests did not, and printed its goroutines.
func (p *Process) Hangs() bool {
	return p.Outcome == TimedOut || p.Outcome == CutShort || p.Outcome == Hung
}

// asleepLine begins the message of the runtime if no goroutine can go on.
var asleepLine = []byte("fatal error: all goroutines are asleep - deadlock!\n")

// Asleep returns the runtime's dump of the goroutines of a process that it has ended since none of them could go on and
// no timer was set; "" for any other process.
func (p *Process) Asleep() string {
	goroutines, isAsleep := bytes.CutPrefix(p.Crash, asleepLine)
	if p.Outcome != Hung || !isAsleep {
		return ""
	}
	return string(goroutines)
}

// TestsFailed reports whether the tests failed by themselves. A time limit of Interlock's says nothing of them.
func (p *Process) TestsFailed() bool { return p.Outcome != Passed && p.Outcome != CutShort }

// FailedTests returns the top-level tests that failed or hung, in order; of a panic, the one that the goroutine is of.
func (p *Process) FailedTests() []string {
	var tests []string
	if p.Hangs() {
		tests = stacktext.HangingTests(p.Output)
	}
	for _, m := range failLine.FindAllSubmatch(p.Output, -1) {
		if name := string(m[1]); !slices.Contains(tests, name) {
			tests = append(tests, name)
		}
	}
	if test := stacktext.PanickedTest(p.Crash); len(tests) == 0 && p.Outcome == Panicked && test != "" {
		tests = append(tests, test) // package testing names the test only where that panics itself
	}
	slices.Sort(tests)
	return tests
}

// subFailLine is a test below another one that failed.
var subFailLine = regexp.MustCompile(`(?m)^ +--- FAIL: (\S+/\S+) \(`)

// FailedSubtests returns the tests below others that failed by themselves, by their whole names.
func (p *Process) FailedSubtests() (tests []string) {
	for _, m := range subFailLine.FindAllSubmatch(p.Output, -1) {
		tests = append(tests, string(m[1]))
	}
	return tests
}

// saidLine is a line by which a test says why it fails, or the runtime why it ends the process.
var saidLine = regexp.MustCompile(`(?m)^(?: +(\S+\.go:\d+: .*)|((?:panic|fatal error): .*))$`)

// raced is the line by which package testing fails a test for a race.
const raced = "race detected during execution of test"

// FailedByRaces reports whether tests failed, and said nothing but that they have raced.
func (p *Process) FailedByRaces() bool {
	said := saidLine.FindAll(p.Output, -1)
	return p.Outcome == Failed && len(said) > 0 && !slices.ContainsFunc(said, func(line []byte) bool {
		return !bytes.HasSuffix(line, []byte(raced))
	})
}

// Said returns the first line by which the tests that failed say why, or "".
func (p *Process) Said() string {
	after := p.Output
	if at := failLine.FindIndex(after); at != nil && p.Outcome == Failed && saidLine.Match(after[at[0]:]) {
		after = after[at[0]:] // the output of other tests comes before
	}
	m := saidLine.FindSubmatch(after)
	if m == nil {
		return ""
	}
	return cmp.Or(string(m[1]), string(m[2]))
}

// SkippedTests returns the top-level tests that skipped themselves, each with its reason, where the
// process ran with -test.v.
func (p *Process) SkippedTests() (tests []string) {
	for _, m := range skipLine.FindAllSubmatch(p.Output, -1) {
		test := string(m[2])
		if why := cmp.Or(string(m[1]), string(m[3])); why != "" {
			test += ": " + why
		}
		tests = append(tests, test)
	}
	return tests
}

// Report returns the output of `go test` for a package: the output of tests that
// failed, or of all with -v, if that was not shown before, and a line with the
// verdict. For tests that hang it has the goroutines that wait;
// nameFile is as for [stacktext.Waiting].
func (p *Process) Report(pkg string, verbose bool, nameFile func(string) string) []byte {
	var b bytes.Buffer
	elapsed := fmt.Sprintf("%.3fs", p.Elapsed.Seconds())
	// The output comes first: of a dump of all goroutines, only those that wait.
	if !p.shown && (p.Outcome != Passed || verbose) {
		out := p.Output
		if before, _, dump := stacktext.Goroutines(out); dump != nil && p.Hangs() {
			out = append(before, stacktext.Waiting(dump, nameFile)...)
		}
		b.Write(out)
		if n := len(out); n > 0 && out[n-1] != '\n' {
			b.WriteByte('\n')
		}
	}
	// Then the verdict, in the words of go test where it has some.
	switch p.Outcome {
	case Passed:
		note := ""
		if p.RanNone() {
			note = " [no tests to run]"
		}
		fmt.Fprintf(&b, "ok  \t%s\t%s%s\n", pkg, elapsed, note)
		return b.Bytes()
	case CutShort:
		fmt.Fprintf(&b, "*** Interlock has ended the tests after %v. This alone is no failure of theirs.\n",
			p.Elapsed.Round(time.Millisecond))
		fmt.Fprintf(&b, "?   \t%s\t%s [not completed]\n", pkg, elapsed)
		return b.Bytes()
	}
	switch {
	case p.Killed && p.Outcome == Hung:
		fmt.Fprintf(&b, "*** Interlock has ended the tests after %v: no goroutine of theirs was at work.\n",
			p.Elapsed.Round(time.Millisecond))
	case p.Killed:
		fmt.Fprintf(&b, "*** Test killed: ran too long (%v).\n", p.Elapsed.Round(time.Millisecond))
	}
	if p.Exit < 0 || len(p.Output) == 0 {
		fmt.Fprintf(&b, "%s\n", p.State)
	}
	fmt.Fprintf(&b, "FAIL\t%s\t%s\n", pkg, elapsed)
	return b.Bytes()
}

// RanNone reports whether the test binary found no test to run.
func (p *Process) RanNone() bool {
	warning := []byte("testing: warning: no tests to run\n")
	return bytes.HasPrefix(p.Output, warning) || bytes.Contains(p.Output, slices.Concat([]byte("\n"), warning))
}

// NoTests returns the output of `go test` for a package without tests.
func NoTests(pkg string) []byte { return fmt.Appendf(nil, "?   \t%s\t[no test files]\n", pkg) }
