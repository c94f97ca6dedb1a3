package campaign

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/dynamic/build"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/child"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/recorded"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/stacktext"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/testproc"
	"github.com/interlock-go/interlock/dynamic/campaign/run"
)

// leaveOutHanging leaves out of the monitored runs the tests that hang in p, a run
// without noise: there they would hang as well, and hide those behind them. A test
// may hide another one that hangs, so the rest is run again until nothing does.
func (c *campaign) leaveOutHanging(
	ctx context.Context, i int, b build.Binary, pkg *run.Package, p *testproc.Process, leaks string,
) error {
	for p.Outcome == run.TimedOut || p.Outcome == run.Hung {
		// A test that hangs although it was left out, or none that is named: leaving out does not help.
		hang := stacktext.HangingTests(p.Output)
		if len(hang) == 0 || slices.ContainsFunc(hang, func(t string) bool { return slices.Contains(pkg.LeftOut, t) }) {
			pkg.Hangs = true
			c.problem("the tests of %s hang without noise: there are no monitored runs of them", pkg.Package)
			return nil
		}
		pkg.LeftOut = append(pkg.LeftOut, hang...)
		job := recorded.Job{Name: fmt.Sprintf("%s-without-%d", plainName(i), len(pkg.LeftOut))}
		c.measuring(b.Package)
		p = c.runTests(ctx, job, b, pkg, testproc.Options{
			Leaks: leaks, Timeout: run.PlainTimeout(c.cfg.Tests.Timeout), Flags: c.without(pkg.LeftOut),
		})
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if p.Err != nil {
			return run.NotStarted(b.Package, p.Err)
		}
		pkg.PlainTests = append(pkg.PlainTests, p.FailedTests()...)
		c.takeLeaks(0, pkg, leaks, p)
	}
	// The other tests may fail as well, which the monitored runs will show: that has nothing to do with their noise.
	pkg.PlainOthers = p.Outcome
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

// measure runs the tests once without noise: their time bounds that of the
// monitored runs, and tests that fail now need no noise to fail. For a binary
// without a monitor it is the only run.
func (c *campaign) measure(ctx context.Context, i int, b build.Binary, pkg *run.Package) error {
	timeout := run.PlainTimeout(c.cfg.Tests.Timeout)
	leaks := run.LeaksFile(filepath.Join(c.result.Dir, plainName(i)))
	flags := c.cfg.Tests.Flags
	if c.cfg.Tests.NameSkipped { // package testing names them only so
		flags = append(slices.Clone(flags), "-test.v")
	}
	c.measuring(b.Package)
	p := c.runTests(ctx, recorded.Job{Name: plainName(i)}, b, pkg, testproc.Options{
		Leaks: leaks, Timeout: timeout, Live: c.live(!b.Monitored), Flags: flags,
	})
	if p.Err != nil && ctx.Err() == nil {
		return run.NotStarted(b.Package, p.Err)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err := p.RefusedFlag(b.Package, c.cfg.Tests.Flags); err != nil {
		return err
	}
	pkg.Plain, pkg.PlainTime, pkg.PlainTests = p.Outcome, p.Elapsed, p.FailedTests()
	pkg.Share, pkg.Skipped = p.Share(), p.SkippedTests()
	pkg.Limit = child.Stretch(p.Elapsed, c.cfg.Noise.Budget) + c.cfg.Tests.Floor
	if p.Outcome != run.Passed {
		pkg.PlainFailure, pkg.PlainReport = run.FailureOf(p, 0, 0, 0), c.report(p, b.Package)
		pkg.PlainFailure.Waits = c.cfg.WaitsOf(p)
	}
	c.takeLeaks(0, pkg, leaks, p)
	if (p.Outcome == run.TimedOut || p.Outcome == run.Hung) && b.Monitored {
		if err := c.leaveOutHanging(ctx, i, b, pkg, p, leaks); err != nil {
			return err
		}
	}
	c.progress(Event{
		Kind: Measured, Run: 1, Runs: c.cfg.Runs, Package: b.Package,
		Outcome: p.Outcome, Elapsed: p.Elapsed, Limit: pkg.Limit,
	})
	switch {
	case !b.Monitored:
		c.seen.Fatal(b.Package, 0, p.Crash)
		c.judge(ctx, 1, 0, b, pkg, p)
	case pkg.Hangs:
		c.show(true, pkg.PlainReport)
	}
	return nil
}

// measuring reports that tests begin to run without noise: nothing is known yet of the time that they take, so that
// only their own timeout ends them.
func (c *campaign) measuring(pkg string) {
	limit := run.PlainTimeout(c.cfg.Tests.Timeout)
	c.progress(Event{Kind: Measuring, Run: 1, Runs: c.cfg.Runs, Package: pkg, Limit: limit})
}

// plainName names the run without noise of the i-th package.
func plainName(i int) string { return fmt.Sprintf("plain-%03d", i+1) }
