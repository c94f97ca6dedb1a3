package campaign

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/dynamic/build"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/child"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/recorded"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/stacktext"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/testproc"
)

// A test that hangs under noise, or that fails by its own time limit, is no reason to
// have the others run with less noise, nor to lose their evidence. It is spared: the
// other runs leave it out, and every fourth run is of spared tests alone, with noise
// that grows fainter until they stand it.

// sparedEvery is how many runs there are for each one of spared tests.
const sparedEvery = 4

// spare takes tests out of most runs of the package after run n, and reports whether it
// has: that has to leave other tests in them, and the tests taken out have to run in some
// run, be it an earlier one.
func (c *campaign) spare(pkg *PackageResult, n int, tests []string, strength int) (spared bool) {
	if n >= c.cfg.Runs-c.cfg.Runs%sparedEvery && pkg.Runs == pkg.NotCompleted {
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
	pkg.Spared, pkg.sparedStrength = all, weaken(strength)
	return true
}

// spareClockTests spares the tests that failed under noise only, if all of them may count
// on time, and reports whether it has.
func (c *campaign) spareClockTests(pkg *PackageResult, p *testproc.Process, f *Failure) (spared bool) {
	failed := slices.DeleteFunc(p.FailedTests(), func(t string) bool { return slices.Contains(pkg.plainTests, t) })
	if slices.ContainsFunc(failed, func(t string) bool { return !pkg.clockTests[t] }) {
		return false
	}
	return c.spare(pkg, f.Run, failed, f.Strength)
}

// sparing reports whether run n of the package is one of spared tests alone.
func (pkg *PackageResult) sparing(n int) bool { return len(pkg.Spared) > 0 && n%sparedEvery == 0 }

// testsIn returns which tests run n of the package leaves out, and which it is of alone,
// as a pattern: "" is all.
func (pkg *PackageResult) testsIn(n int) (leaveOut []string, only string) {
	if pkg.sparing(n) {
		return pkg.LeftOut, strings.Join(pkg.Spared, "|")
	}
	return slices.Concat(pkg.LeftOut, pkg.Spared), ""
}

// chosenTests returns the top-level tests of a package that the user's flags choose.
func (c *campaign) chosenTests(pkg *PackageResult) []string {
	return slices.DeleteFunc(slices.Clone(pkg.allTests), func(name string) bool {
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

// leaveOutHanging leaves out of the monitored runs the tests that hang in p, a run
// without noise: there they would hang as well, and hide those behind them. A test
// may hide another one that hangs, so the rest is run again until nothing does.
func (c *campaign) leaveOutHanging(
	ctx context.Context, i int, b build.Binary, pkg *PackageResult, p *testproc.Process, leaks string,
) error {
	for p.Outcome == TimedOut || p.Outcome == Hung {
		// A test that hangs although it was left out, or none that is named: leaving out does not help.
		hang := stacktext.HangingTests(p.Output)
		if len(hang) == 0 || slices.ContainsFunc(hang, func(t string) bool { return slices.Contains(pkg.LeftOut, t) }) {
			pkg.hangs = true
			c.problem("the tests of %s hang without noise: there are no monitored runs of them", pkg.Package)
			return nil
		}
		pkg.LeftOut = append(pkg.LeftOut, hang...)
		job := recorded.Job{Name: fmt.Sprintf("%s-without-%d", plainName(i), len(pkg.LeftOut))}
		c.measuring(b.Package)
		p = c.runTests(ctx, job, b, pkg, testproc.Options{
			Leaks: leaks, Timeout: PlainTimeout(c.cfg.Tests.Timeout), Flags: c.without(pkg.LeftOut),
		})
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if p.Err != nil {
			return notStarted(b.Package, p.Err)
		}
		pkg.plainTests = append(pkg.plainTests, p.FailedTests()...)
		c.takeLeaks(0, pkg, leaks, p)
	}
	// The other tests may fail as well, which the monitored runs will show: that has nothing to do with their noise.
	pkg.plainOthers = p.Outcome
	// The time that the others take bounds that of the monitored runs, and of replays of the tests that hang.
	pkg.PlainTime, pkg.Limit = p.Elapsed, child.Stretch(p.Elapsed, c.cfg.Noise.Budget)+c.cfg.Tests.Floor
	slices.Sort(pkg.LeftOut)
	verb, them := "hangs", "it"
	if len(pkg.LeftOut) > 1 {
		verb, them = "hang", "them"
	}
	c.problem("%s of %s %s without noise: the monitored runs leave %s out",
		strings.Join(pkg.LeftOut, ", "), pkg.Package, verb, them)
	return nil
}

// enoughHangs is in how many monitored runs a test may wait for ever: the tests
// behind it do not run then, and the finding is made.
const enoughHangs = 2

// hungAgain takes up a monitored run in which a test waited for ever.
func (c *campaign) hungAgain(pkg *PackageResult, p *testproc.Process) {
	tests := p.FailedTests()
	if pkg.hung++; pkg.hung < enoughHangs || len(tests) == 0 {
		return
	}
	pkg.hung = 0
	pkg.LeftOut = append(pkg.LeftOut, tests...)
	c.problem("%s of %s waited for ever in %d runs: later runs leave it out",
		strings.Join(tests, ", "), pkg.Package, enoughHangs)
}

// without returns the test flags, with those left out that hang.
func (c *campaign) without(tests []string) []string {
	if len(tests) == 0 {
		return c.cfg.Tests.Flags
	}
	skip := "^(" + strings.Join(tests, "|") + ")$"
	var flags []string
	for _, f := range c.cfg.Tests.Flags {
		if value, ok := strings.CutPrefix(f, "-test.skip="); ok {
			skip = value + "|" + skip
		} else {
			flags = append(flags, f)
		}
	}
	return append([]string{"-test.skip=" + skip}, flags...)
}
