package campaign

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Outcome says how the tests of a package went, whatever the monitor caught.
type Outcome string

const (
	Passed   Outcome = "passed"
	Failed   Outcome = "failed"
	Panicked Outcome = "panicked"  // a panic or fatal error ended the process
	TimedOut Outcome = "timed out" // by its own deadline, or killed after it
	Crashed  Outcome = "crashed"   // ended by a signal
)

// PackageResult is how the tests of one package went over all runs.
type PackageResult struct {
	Package  string
	NoTests  bool // no test files
	Runs     int
	Failures int // runs in which they did not pass
	// First is the first failure, nil if there is none.
	First *Failure
	// Plain is the outcome of one run with the monitor asleep, made after the
	// first failure; "" if there was none or it could not be made.
	Plain Outcome

	timeouts int
}

// OnlyMonitored reports that the tests failed in a monitored run and passed
// in an unmonitored one: the noise has brought out a fault of the program, or
// the monitor has caused one.
func (p *PackageResult) OnlyMonitored() bool { return p.Failures > 0 && p.Plain == Passed }

// Failure is one run of a package's tests that did not pass.
type Failure struct {
	Run     int
	Seed    uint64
	Outcome Outcome
	Output  string
}

var (
	panicLine   = regexp.MustCompile(`(?m)^(panic: |fatal error: )`)
	timeoutLine = regexp.MustCompile(`(?m)^panic: test timed out after `)
)

// classify tells outcomes apart by the exit and, for a process that ended
// itself, by the words of the runtime and of package testing.
func classify(p *process) Outcome {
	switch {
	case p.killed:
		return TimedOut
	case p.exit == 0:
		return Passed
	case p.exit == 2 && timeoutLine.Match(p.output):
		return TimedOut
	case p.exit == 2 && panicLine.Match(p.output):
		return Panicked
	case p.exit < 0:
		return Crashed
	}
	return Failed
}

// report gives what `go test` prints for a package: the output of tests that
// failed, or of all with -v, and a line with the verdict.
func (p *process) report(pkg string, verbose bool) []byte {
	var b bytes.Buffer
	elapsed := fmt.Sprintf("%.3fs", p.elapsed.Seconds())
	if p.outcome != Passed || verbose {
		b.Write(p.output)
		if n := len(p.output); n > 0 && p.output[n-1] != '\n' {
			b.WriteByte('\n')
		}
	}
	if p.outcome == Passed {
		note := ""
		if bytes.HasPrefix(p.output, []byte("testing: warning: no tests to run\n")) ||
			bytes.Contains(p.output, []byte("\ntesting: warning: no tests to run\n")) {
			note = " [no tests to run]"
		}
		fmt.Fprintf(&b, "ok  \t%s\t%s%s\n", pkg, elapsed, note)
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

func noTests(pkg string) []byte { return fmt.Appendf(nil, "?   \t%s\t[no test files]\n", pkg) }

// verbose reports whether the tests were asked to show what passes.
func (c *campaign) verbose() bool {
	return slices.ContainsFunc(c.cfg.TestFlags, func(f string) bool {
		name, value, has := strings.Cut(strings.TrimLeft(f, "-"), "=")
		return (name == "test.v" || name == "test.bench") && (!has || value != "false")
	})
}
