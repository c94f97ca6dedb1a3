package campaign

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// How often a test may hang, and those of a package where the output names
// none, before later runs leave them out: a campaign is not to last days for
// them, and what hangs hides the tests after it.
const (
	maxTestHangs    = 2
	maxPackageHangs = 3
)

// hung takes up a run that timed out.
func (c *campaign) hung(pkg *PackageResult, p *process) {
	tests := hangingTests(p.output)
	for _, t := range tests {
		if pkg.testHangs == nil {
			pkg.testHangs = map[string]int{}
		}
		if pkg.testHangs[t]++; pkg.testHangs[t] == maxTestHangs {
			pkg.LeftOut = append(pkg.LeftOut, t)
			c.problem("%s of %s hung in %d runs, later runs leave it out", t, pkg.Package, maxTestHangs)
		}
	}
	if len(tests) > 0 {
		return
	}
	if pkg.hangs++; pkg.hangs == maxPackageHangs {
		c.problem("the tests of %s hung in %d runs, later runs leave them out", pkg.Package, maxPackageHangs)
	}
}

func (c *campaign) problem(format string, args ...any) {
	c.result.Problems = append(c.result.Problems, fmt.Sprintf(format, args...))
}

var (
	runnerFrame   = regexp.MustCompile(`(?m)^testing\.tRunner\(`)
	parallelFrame = regexp.MustCompile(`(?m)^testing\.\(\*T\)\.Parallel\(`)
	testFrame     = regexp.MustCompile(`(?m)^[^\s()]*\.(Test[^.()\s]*)[.(]`)
)

// A process that is asked for its goroutines shows the scheduler's first, and
// the registers last.
var (
	schedulerStack = regexp.MustCompile(`(?m)^PC=0x[0-9a-f]+ m=.*\n\ngoroutine 0 (?:.+\n)+\n`)
	registers      = regexp.MustCompile(`(?m)^[a-z][a-z0-9]{1,5} +0x[0-9a-f]+\n?`)
)

// withoutRegisters leaves out of a dump what tells nothing of the tests.
func withoutRegisters(dump []byte) []byte {
	return registers.ReplaceAll(schedulerStack.ReplaceAll(dump, nil), nil)
}

// hangingTests gives the top-level tests that a dump of all goroutines shows
// at work; one that waits for its turn is not.
func hangingTests(dump []byte) []string {
	var tests []string
	for goroutine := range strings.SplitSeq(string(dump), "\n\n") {
		if !runnerFrame.MatchString(goroutine) || parallelFrame.MatchString(goroutine) {
			continue
		}
		frames := testFrame.FindAllStringSubmatch(goroutine, -1)
		if len(frames) == 0 {
			continue
		}
		// The goroutine of TestMain only waits for the tests.
		if name := frames[len(frames)-1][1]; name != "TestMain" && !slices.Contains(tests, name) {
			tests = append(tests, name)
		}
	}
	return tests
}

// without gives the test flags, with those left out that hang.
func (c *campaign) without(tests []string) []string {
	if len(tests) == 0 {
		return c.cfg.TestFlags
	}
	skip := "^(" + strings.Join(tests, "|") + ")$"
	var flags []string
	for _, f := range c.cfg.TestFlags {
		if value, ok := strings.CutPrefix(f, "-test.skip="); ok {
			skip = value + "|" + skip
		} else {
			flags = append(flags, f)
		}
	}
	return append([]string{"-test.skip=" + skip}, flags...)
}
