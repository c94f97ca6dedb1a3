package campaign

import (
	"regexp"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/dynamic/campaign/internal/testproc"
	"github.com/interlock-go/interlock/dynamic/campaign/run"
)

// spare takes tests out of most runs of the package after run n, and reports whether it
// has: that has to leave other tests in them, and the tests taken out have to run in some
// run, be it an earlier one.
func (c *campaign) spare(pkg *run.Package, n int, tests []string, strength int) (spared bool) {
	if n >= c.cfg.Runs-c.cfg.Runs%run.SparedEvery && pkg.Runs == pkg.NotCompleted {
		return false
	}
	all := slices.Clone(pkg.Spared)
	for _, t := range tests {
		if !slices.Contains(all, t) {
			all = append(all, t)
		}
	}
	left := slices.DeleteFunc(c.chosenTests(pkg), func(t string) bool { return slices.Contains(all, t) })
	if len(all) == len(pkg.Spared) || len(left) == 0 {
		return false
	}
	pkg.Spared, pkg.SparedStrength = all, weaken(strength)
	return true
}

// spareClockTests spares the tests that failed under noise only, if all of them may count
// on time, and reports whether it has.
func (c *campaign) spareClockTests(pkg *run.Package, p *testproc.Process, f *run.Failure) (spared bool) {
	failed := slices.DeleteFunc(p.FailedTests(), func(t string) bool { return slices.Contains(pkg.PlainTests, t) })
	if slices.ContainsFunc(failed, func(t string) bool { return !pkg.ClockTests[t] }) {
		return false
	}
	return c.spare(pkg, f.Run, failed, f.Strength)
}

// chosenTests returns the top-level tests of a package that the user's flags choose.
func (c *campaign) chosenTests(pkg *run.Package) []string {
	return slices.DeleteFunc(slices.Clone(pkg.AllTests), func(name string) bool {
		for _, f := range c.cfg.Tests.Flags {
			flag, value, _ := strings.Cut(f, "=")
			first, _, deeper := strings.Cut(value, "/")
			skips := flag == "-test.skip"
			if flag != "-test.run" && !skips || skips && deeper {
				continue
			}
			if pattern, err := regexp.Compile(first); err == nil && pattern.MatchString(name) == skips {
				return true
			}
		}
		return slices.Contains(pkg.LeftOut, name)
	})
}

// enoughHangs is in how many monitored runs a test may wait for ever: the tests
// behind it do not run then, and the finding is made.
const enoughHangs = 2

// hungAgain takes up a monitored run in which a test waited for ever.
func (c *campaign) hungAgain(pkg *run.Package, p *testproc.Process) {
	tests := p.FailedTests()
	if pkg.Hung++; pkg.Hung < enoughHangs || len(tests) == 0 {
		return
	}
	pkg.Hung = 0
	pkg.LeftOut = append(pkg.LeftOut, tests...)
	c.problem("%s of %s waited for ever in %d runs: later runs leave it out",
		strings.Join(tests, ", "), pkg.Package, enoughHangs)
}
