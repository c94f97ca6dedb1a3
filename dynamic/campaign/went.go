package campaign

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/maruel/panicparse/v2/stack"

	"github.com/interlock-go/interlock/dynamic/build"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/recorded"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/stacktext"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/testproc"
	"github.com/interlock-go/interlock/dynamic/campaign/run"
)

// judge takes up how the tests went in a run.
func (c *campaign) judge(
	ctx context.Context, n, strength int, b build.Binary, pkg *run.Package, p *testproc.Process,
) {
	pkg.Runs++
	pkg.NoneRan = p.RanNone()
	underNoise := !pkg.LikePlain(p)
	if n == 1 && p.Outcome == run.Passed && pkg.PlainFailure != nil {
		c.show(true, pkg.PlainReport) // a test that fails without the monitor fails
	} else if p.Outcome != run.CutShort {
		news := p.Outcome != run.Passed && (pkg.First == nil || underNoise && pkg.UnderNoise == 0)
		c.show(news && underNoise, c.labelOf(n, strength))
		c.show(n == 1 || news, c.report(p, b.Package))
	}
	switch p.Outcome {
	case run.Passed:
		return
	case run.CutShort:
		pkg.NotCompleted++
		return
	}
	if p.Outcome == run.Hung {
		c.hungAgain(pkg, p)
	}
	pkg.Failures++
	failure := run.FailureOf(p, n, c.seen.Seed, strength)
	failure.Waits = c.cfg.WaitsOf(p)
	if pkg.First == nil {
		pkg.First = failure
	}
	if underNoise && pkg.UnderNoise == 0 {
		c.repeat(ctx, n, b, pkg)
		underNoise = !pkg.LikePlain(p)
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
	if c.cfg.purpose(n) == run.Measuring {
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
func (c *campaign) cutShort(n, strength int, pkg *run.Package, p *testproc.Process) (again bool) {
	f := run.FailureOf(p, n, c.seen.Seed, strength)
	f.Busy = starved(p, pkg.Share)
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
	pkg.Repeats++
	return pkg.Repeats <= maxRepeats
}

// starved reports whether the process could have gone on, and had less than half of
// the processor time that one without noise has used: noise alone waits, and so do
// goroutines that hang.
func starved(p *testproc.Process, share float64) bool {
	_, all, _ := stacktext.Goroutines(p.Output)
	ready := slices.ContainsFunc(all, func(g *stack.Goroutine) bool { return g.State == "runnable" })
	return ready && p.Share() < share/2
}

// repeat runs the tests once more without noise, after run n: they may fail now and then by
// themselves.
func (c *campaign) repeat(ctx context.Context, n int, b build.Binary, pkg *run.Package) {
	job := recorded.Job{Name: fmt.Sprintf("plain-after-%04d %s", n, b.Package)}
	p := c.runTests(ctx, job, b, pkg, testproc.Options{
		Timeout: run.PlainTimeout(c.cfg.Tests.Timeout), Limit: pkg.Limit, Flags: c.without(pkg.LeftOut),
	})
	if p.Err != nil || ctx.Err() != nil || p.Outcome == run.Passed || p.Outcome == run.CutShort {
		return
	}
	pkg.Plain = p.Outcome
	pkg.PlainTests = append(pkg.PlainTests, p.FailedTests()...)
}

// blameNoise counts a run that failed and would not have without noise. Where
// no race explains that, later noise is weaker, so that tests which count on
// time do not spend the rest of the campaign failing.
func (c *campaign) blameNoise(pkg *run.Package, f *run.Failure, p *testproc.Process) {
	if pkg.UnderNoise++; pkg.UnderNoise == 1 {
		pkg.UnderNoiseFirst = f
	}
	named := slices.DeleteFunc(p.FailedTests(), func(t string) bool { return slices.Contains(pkg.PlainTests, t) })
	pkg.Tests = withMore(pkg.Tests, named)
	if p.Outcome == run.Failed || p.Outcome == run.Panicked {
		if len(named) == 0 {
			named = []string{""}
		}
		pkg.Ended = withMore(pkg.Ended, named)
	}
	explained := len(c.seen.Bugs[pkg.Package]) > 0 && !pkg.Sparing(f.Run)
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
func (c *campaign) weaken(pkg *run.Package, f *run.Failure) {
	if weaker := weaken(f.Strength); pkg.Sparing(f.Run) {
		pkg.SparedStrength = weaker
	} else if weaker < f.Strength {
		pkg.Strength = weaker
		c.progress(Event{
			Kind: Weakened, Run: f.Run, Runs: c.cfg.Runs, Seed: f.Seed,
			Package: pkg.Package, Outcome: f.Outcome, Strength: weaker,
		})
	}
}
