package campaign

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/interlock-go/interlock/dynamic/campaign/internal/stacktext"
	"github.com/interlock-go/interlock/dynamic/schedule"
)

// Outcome is how the tests of a package went, whatever the monitor caught.
type Outcome string

const (
	Passed   Outcome = "passed"
	Failed   Outcome = "failed"
	Panicked Outcome = "panicked"  // a panic or fatal error ended the process
	TimedOut Outcome = "timed out" // by the user's own deadline, or killed after it
	Crashed  Outcome = "crashed"   // ended by a signal
	// Hung: a test waits for what nothing can bring any more, as the collector shows.
	Hung Outcome = "hung"
	// CutShort: ended by a time limit of Interlock's. That says nothing of the tests.
	CutShort Outcome = "not completed"
)

// PackageResult is how the tests of one package went over all runs.
type PackageResult struct {
	Package  string
	NoTests  bool // no test files
	Runs     int
	Failures int // runs in which they did not pass
	// First is the first failure, nil if there is none.
	First *Failure
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
	// Strength is what the noise was weakened to in the end, in microseconds,
	// since the tests depend on timing; 0 if it was not.
	Strength int

	// PlainFailure is how the run before all others failed, nil if it passed. The
	// tests fail then, whatever the monitored runs do.
	PlainFailure *Failure
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

	auto     *schedule.Auto // where its planned runs hold goroutines
	allTests []string       // top-level ones
	// sparedStrength is that of the noise in runs of spared tests, in microseconds.
	sparedStrength int
	bearable       int             // strength that tests which count on time can stand
	clockTests     map[string]bool // those that may count on time
	plainTests     []string        // that failed without noise
	plainReport    []byte          // what the run before all others printed, if it failed
	share          float64         // of a processor that it used
	repeats        int             // of runs that Interlock has ended
	hangs          bool            // without noise, in no test that is known
	hung           int             // monitored runs in which a test waited for ever
}

// Failure is one run of a package's tests that did not pass.
type Failure struct {
	Run      int
	Seed     uint64
	Strength int // of the noise, in microseconds
	Outcome  Outcome
	Output   string
	Elapsed  time.Duration
	Busy     bool // the machine was: the process could have used much more of it
}

func (p *process) failure(run int, seed uint64, strength int) *Failure {
	return &Failure{Run: run, Seed: seed, Strength: strength, Outcome: p.outcome, Output: string(p.output), Elapsed: p.elapsed}
}

// Fails reports whether the tests failed, with the monitor or without.
func (pkg *PackageResult) Fails() bool { return pkg.Failures > 0 || pkg.PlainFailure != nil }

var (
	panicLine   = regexp.MustCompile(`(?m)^(panic: |fatal error: )`)
	hungLine    = regexp.MustCompile(`(?m)^panic: the tests wait for ever: `)
	timeoutLine = regexp.MustCompile(`(?m)^panic: test timed out after `)
	failLine    = regexp.MustCompile(`(?m)^--- FAIL: (\S+) \(`)
)

// classify distinguishes outcomes by the exit and, for a process that ended
// itself, by the words of the runtime and of package testing.
func classify(p *process) Outcome {
	timedOut := p.killed || p.exit == 2 && timeoutLine.Match(p.output)
	switch {
	case timedOut && p.ours:
		return CutShort
	case timedOut:
		return TimedOut
	case p.exit == 0:
		return Passed
	case p.exit == 2 && hungLine.Match(p.output):
		return Hung
	case p.exit == 2 && panicLine.Match(p.output):
		return Panicked
	case p.exit < 0:
		return Crashed
	}
	return Failed
}

// hangs reports whether the process ended because tests did not, and printed its goroutines.
func (p *process) hangs() bool {
	return p.outcome == TimedOut || p.outcome == CutShort || p.outcome == Hung
}

// failedTests returns the top-level tests that failed or hung, in order.
func (p *process) failedTests() []string {
	var tests []string
	if p.hangs() {
		tests = stacktext.HangingTests(p.output)
	}
	for _, m := range failLine.FindAllSubmatch(p.output, -1) {
		if name := string(m[1]); !slices.Contains(tests, name) {
			tests = append(tests, name)
		}
	}
	slices.Sort(tests)
	return tests
}

// report returns what `go test` prints for a package: the output of tests that
// failed, or of all with -v, if that was not shown before, and a line with the
// verdict. Of tests that hang it is the goroutines that wait.
func (p *process) report(cfg *Config, pkg string, verbose bool) []byte {
	var b bytes.Buffer
	elapsed := fmt.Sprintf("%.3fs", p.elapsed.Seconds())
	// The output comes first: of a dump of all goroutines, only those that wait.
	if !p.shown && (p.outcome != Passed || verbose) {
		out := p.output
		if before, _, dump := stacktext.Goroutines(out); dump != nil && p.hangs() {
			out = append(before, stacktext.Waiting(dump, shownFile(cfg))...)
		}
		b.Write(out)
		if n := len(out); n > 0 && out[n-1] != '\n' {
			b.WriteByte('\n')
		}
	}
	// Then the verdict, in the words of go test where it has some.
	switch p.outcome {
	case Passed:
		note := ""
		if p.ranNone() {
			note = " [no tests to run]"
		}
		fmt.Fprintf(&b, "ok  \t%s\t%s%s\n", pkg, elapsed, note)
		return b.Bytes()
	case CutShort:
		fmt.Fprintf(&b, "*** Interlock has ended the tests after %v. This alone is no failure of theirs.\n", p.elapsed.Round(time.Millisecond))
		fmt.Fprintf(&b, "?   \t%s\t%s [not completed]\n", pkg, elapsed)
		return b.Bytes()
	}
	if p.killed {
		fmt.Fprintf(&b, "*** Test killed: ran too long (%v).\n", p.elapsed.Round(time.Millisecond))
	}
	if p.exit < 0 || len(p.output) == 0 {
		fmt.Fprintf(&b, "%s\n", p.state)
	}
	fmt.Fprintf(&b, "FAIL\t%s\t%s\n", pkg, elapsed)
	return b.Bytes()
}

// ranNone reports whether the test binary found no test to run.
func (p *process) ranNone() bool {
	warning := []byte("testing: warning: no tests to run\n")
	return bytes.HasPrefix(p.output, warning) || bytes.Contains(p.output, slices.Concat([]byte("\n"), warning))
}

func noTests(pkg string) []byte { return fmt.Appendf(nil, "?   \t%s\t[no test files]\n", pkg) }

// verbose reports whether the tests were asked to show what passes.
func (c *campaign) verbose() bool {
	return slices.ContainsFunc(c.cfg.TestFlags, func(f string) bool {
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
