package campaign

import (
	"regexp"
	"slices"
	"strings"
)

// A test that hangs under noise, or that fails by its own time limit, is no reason to
// have the others run with less noise, nor to lose what they show. It is spared: the
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
func (c *campaign) spareClockTests(pkg *PackageResult, p *process, f *Failure) (spared bool) {
	failed := slices.DeleteFunc(p.failedTests(), func(t string) bool { return slices.Contains(pkg.plainTests, t) })
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
		for _, f := range c.cfg.TestFlags {
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
