package campaign

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/maruel/panicparse/v2/stack"

	"github.com/interlock-go/interlock/dynamic/build"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/child"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/recorded"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/stacktext"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/testproc"
)

// ladder holds the strengths of the noise in successive runs, in microseconds,
// round and round. Most runs are gentle, so that tests which count on time pass
// as they pass without the monitor: a window of 1 ms at each of a few accesses
// in a row upsets a test that sleeps for 3 ms. Some are strong, since a short
// window misses an access that comes late. The number of rungs is odd, so that
// each is met by runs that arm known pairs and by runs that do not.
var ladder = [...]int{gentle, gentle, 1000, gentle, 2000}

const (
	gentle = 100 // microseconds
	// weakest is the strength below which noise is not weakened further: the
	// scheduler alone makes windows of a few microseconds.
	weakest = 10
)

// Strength returns the default strength of the noise in run n of a campaign,
// from 1, in microseconds. Packages with tests that count on short times have
// less.
func Strength(n int) int { return ladder[(n-1)%len(ladder)] }

// strength returns the strength of the noise for a package in run n.
func (c *campaign) strength(n int, pkg *PackageResult) int {
	s := c.cfg.Noise.Strength
	if s == 0 {
		s = min(Strength(n), pkg.bearable)
	}
	if pkg.Strength > 0 {
		s = min(s, pkg.Strength)
	}
	if pkg.sparing(n) {
		s = min(s, pkg.sparedStrength)
	}
	return s
}

// measure runs the tests once without noise: their time bounds that of the
// monitored runs, and tests that fail now need no noise to fail. For a binary
// without a monitor it is the only run.
func (c *campaign) measure(ctx context.Context, i int, b build.Binary, pkg *PackageResult) error {
	timeout := PlainTimeout(c.cfg.Tests.Timeout)
	leaks := leaksFile(filepath.Join(c.result.Dir, plainName(i)))
	flags := c.cfg.Tests.Flags
	if c.cfg.Tests.NameSkipped { // package testing names them only so
		flags = append(slices.Clone(flags), "-test.v")
	}
	c.measuring(b.Package)
	p := c.runTests(ctx, recorded.Job{Name: plainName(i)}, b, pkg, testproc.Options{
		Leaks: leaks, Timeout: timeout, Live: c.live(!b.Monitored), Flags: flags,
	})
	if p.Err != nil && ctx.Err() == nil {
		return notStarted(b.Package, p.Err)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err := p.RefusedFlag(b.Package, c.cfg.Tests.Flags); err != nil {
		return err
	}
	pkg.Plain, pkg.PlainTime, pkg.plainTests = p.Outcome, p.Elapsed, p.FailedTests()
	pkg.share, pkg.Skipped = p.Share(), p.SkippedTests()
	pkg.Limit = child.Stretch(p.Elapsed, c.cfg.Noise.Budget) + c.cfg.Tests.Floor
	if p.Outcome != Passed {
		pkg.PlainFailure, pkg.plainReport = failureOf(p, 0, 0, 0), c.report(p, b.Package)
		pkg.PlainFailure.Waits = c.waitsOf(p)
	}
	c.takeLeaks(0, pkg, leaks, p)
	if (p.Outcome == TimedOut || p.Outcome == Hung) && b.Monitored {
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
		c.seen.fatal(b.Package, 0, p.Crash)
		c.judge(ctx, 1, 0, b, pkg, p)
	case pkg.hangs:
		c.show(true, pkg.plainReport)
	}
	return nil
}

// measuring reports that tests begin to run without noise: nothing is known yet of the time that they take, so that
// only their own timeout ends them.
func (c *campaign) measuring(pkg string) {
	c.progress(Event{Kind: Measuring, Run: 1, Runs: c.cfg.Runs, Package: pkg, Limit: PlainTimeout(c.cfg.Tests.Timeout)})
}

// plainName names the run without noise of the i-th package.
func plainName(i int) string { return fmt.Sprintf("plain-%03d", i+1) }

// judge takes up how the tests went in a run.
func (c *campaign) judge(
	ctx context.Context, n, strength int, b build.Binary, pkg *PackageResult, p *testproc.Process,
) {
	pkg.Runs++
	pkg.NoneRan = p.RanNone()
	underNoise := !pkg.likePlain(p)
	if n == 1 && p.Outcome == Passed && pkg.PlainFailure != nil {
		c.show(true, pkg.plainReport) // a test that fails without the monitor fails
	} else if p.Outcome != CutShort {
		news := p.Outcome != Passed && (pkg.First == nil || underNoise && pkg.UnderNoise == 0)
		c.show(news && underNoise, c.labelOf(n, strength))
		c.show(n == 1 || news, c.report(p, b.Package))
	}
	switch p.Outcome {
	case Passed:
		return
	case CutShort:
		pkg.NotCompleted++
		return
	}
	if p.Outcome == Hung {
		c.hungAgain(pkg, p)
	}
	pkg.Failures++
	failure := failureOf(p, n, c.seen.seed, strength)
	failure.Waits = c.waitsOf(p)
	if pkg.First == nil {
		pkg.First = failure
	}
	if underNoise && pkg.UnderNoise == 0 {
		c.repeat(ctx, n, b, pkg)
		underNoise = !pkg.likePlain(p)
	}
	switch {
	case !underNoise:
		pkg.Alike = cmp.Or(pkg.Alike, failure)
	case ctx.Err() == nil:
		c.blameNoise(pkg, failure, p)
	}
}

// labelOf returns the line that stands before the output of run n where the tests fail as they did not without noise: a
// reader is not to take the failure for one that go test shows.
func (c *campaign) labelOf(n, strength int) []byte {
	made := fmt.Sprintf("noise of about %v", time.Duration(strength)*time.Microsecond)
	if c.cfg.purpose(n) == measuring {
		made = "the monitor and no noise"
	}
	return fmt.Appendf(nil, "*** Run %d had %s: the tests fail in it as they did not without.\n", n, made)
}

// maxRepeats is how often runs of a package that Interlock has ended are made again;
// later ones have less noise anyway.
const maxRepeats = 2

// cutShort takes up a run that Interlock has ended. It shows the first with the
// goroutines that wait, spares the tests that hung in all further runs of the package,
// or has these make less noise where that leaves no test, and reports whether this one
// is worth to be made again: with more time, if the machine was busy with other work.
func (c *campaign) cutShort(n, strength int, pkg *PackageResult, p *testproc.Process) (again bool) {
	f := failureOf(p, n, c.seen.seed, strength)
	f.Busy = starved(p, pkg.share)
	if pkg.FirstCut == nil {
		pkg.FirstCut = f
		c.show(true, c.report(p, pkg.Package))
	}
	if f.Busy {
		pkg.Limit += pkg.Limit
	}
	if f.Busy || !c.spare(pkg, n, p.FailedTests(), f.Strength) {
		c.weaken(pkg, f)
	}
	pkg.repeats++
	return pkg.repeats <= maxRepeats
}

// starved reports whether the process could have gone on, and had less than half of
// the processor time that one without noise has used: noise alone waits, and so do
// goroutines that hang.
func starved(p *testproc.Process, share float64) bool {
	_, all, _ := stacktext.Goroutines(p.Output)
	ready := slices.ContainsFunc(all, func(g *stack.Goroutine) bool { return g.State == "runnable" })
	return ready && p.Share() < share/2
}

// likePlain reports whether a run passed, or failed as one without noise did: that of all tests, or that of those which
// do not hang, where the run left out others.
func (pkg *PackageResult) likePlain(p *testproc.Process) bool {
	if p.Outcome == Passed || p.Outcome == CutShort || pkg.Plain == "" {
		return true
	}
	failed := p.FailedTests()
	for _, t := range failed {
		if !slices.Contains(pkg.plainTests, t) {
			return false
		}
	}
	return p.Outcome == pkg.Plain || p.Outcome == pkg.plainOthers || p.Outcome == Failed && len(failed) > 0
}

// repeat runs the tests once more without noise, after run n: they may fail now and then by
// themselves.
func (c *campaign) repeat(ctx context.Context, n int, b build.Binary, pkg *PackageResult) {
	job := recorded.Job{Name: fmt.Sprintf("plain-after-%04d %s", n, b.Package)}
	p := c.runTests(ctx, job, b, pkg, testproc.Options{
		Timeout: PlainTimeout(c.cfg.Tests.Timeout), Limit: pkg.Limit, Flags: c.without(pkg.LeftOut),
	})
	if p.Err != nil || ctx.Err() != nil || p.Outcome == Passed || p.Outcome == CutShort {
		return
	}
	pkg.Plain = p.Outcome
	pkg.plainTests = append(pkg.plainTests, p.FailedTests()...)
}

// blameNoise counts a run that failed and would not have without noise. Where
// no race explains that, later noise is weaker, so that tests which count on
// time do not spend the rest of the campaign failing.
func (c *campaign) blameNoise(pkg *PackageResult, f *Failure, p *testproc.Process) {
	if pkg.UnderNoise++; pkg.UnderNoise == 1 {
		pkg.UnderNoiseFirst = f
	}
	named := slices.DeleteFunc(p.FailedTests(), func(t string) bool { return slices.Contains(pkg.plainTests, t) })
	pkg.Tests = withMore(pkg.Tests, named)
	if p.Outcome == Failed || p.Outcome == Panicked {
		if len(named) == 0 {
			named = []string{""}
		}
		pkg.ended = withMore(pkg.ended, named)
	}
	explained := len(c.seen.bugs[pkg.Package]) > 0 && !pkg.sparing(f.Run)
	if !explained && !c.spareClockTests(pkg, p, f) {
		c.weaken(pkg, f)
	}
}

// withMore returns the names with the further ones that it lacks.
func withMore(names, further []string) []string {
	for _, name := range further {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// weaken has later runs of the package make less noise than the one that failed.
func (c *campaign) weaken(pkg *PackageResult, f *Failure) {
	if weaker := weaken(f.Strength); pkg.sparing(f.Run) {
		pkg.sparedStrength = weaker
	} else if weaker < f.Strength {
		pkg.Strength = weaker
		c.progress(Event{
			Kind: Weakened, Run: f.Run, Runs: c.cfg.Runs, Seed: f.Seed,
			Package: pkg.Package, Outcome: f.Outcome, Strength: weaker,
		})
	}
}

// weaken returns the strength after one that the tests could not stand: half of
// it, and gentle, as in most runs, after a strong one.
func weaken(strength int) int { return max(min(strength/2, gentle), weakest) }
