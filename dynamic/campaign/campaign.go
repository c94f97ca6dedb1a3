package campaign

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/dynamic/build"
	"github.com/interlock-go/interlock/dynamic/campaign/arm"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/deadlock"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/join"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/recorded"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/testproc"
	"github.com/interlock-go/interlock/dynamic/campaign/judge"
	"github.com/interlock-go/interlock/dynamic/campaign/run"
	"github.com/interlock-go/interlock/dynamic/evidence"
)

// Run makes the campaign. When ctx ends it returns the findings so far and no
// error; on an error, such as a campaign that cannot be set up or go on,
// the result holds the evidence so far.
func Run(ctx context.Context, cfg Config) (*Result, error) {
	c, err := start(cfg.settings())
	if err != nil {
		return nil, err
	}
	if len(c.cfg.First) > 0 {
		c.exact = newExact(c)
	}
	next := GoOn
	for run := 1; run <= c.cfg.Runs && next == GoOn; run++ {
		if err = c.run(ctx, run); err != nil {
			c.seen.End(c.result.Counted)
			break
		}
		c.result.Runs, c.result.Counted = run, run
		c.bound(run)
		next = c.next()
	}
	c.result.PerRun = c.asLoaded(c.result.PerRun)
	isCut := err != nil || next == Abandon
	err = c.ended(ctx, err)
	// Whether a split does harm, and which pause makes a test fail, is shown by runs of single tests.
	if !isCut {
		c.compare(ctx)
		c.isolate(ctx)
	}
	c.finish()
	if !isCut {
		c.measureReplays(ctx)
	}
	return c.result, err
}

// Gather makes findings of the evidence file of processes that the user has
// started, each of them a run. They were built from p; locks are the uses of locks there. Such findings have no replay
// command. If there is no evidence file, no process has run.
func Gather(p run.Program, locks map[uint64]LockUse, file string) (*Result, error) {
	cfg := &settings{Settings: run.Settings{Program: p}}
	c := &campaign{
		cfg: cfg, result: &Result{ByEngine: ByEngine{Engine: "watch"}},
		seen: judge.NewTally(cfg.Plan, cfg.Workspace.Module.Packages),
	}
	c.seen.Deadlocks = deadlock.New(func() map[uint64]LockUse { return locks })
	f, err := os.Open(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		c.finish()
		return c.result, nil
	case err != nil:
		return nil, fmt.Errorf("reading the evidence: %w", err)
	}
	defer f.Close()
	records, bad, err := evidence.Read(f)
	if err != nil {
		return nil, fmt.Errorf("reading the evidence: %w", err)
	}
	problem := func(format string, args ...any) {
		c.result.Problems = append(c.result.Problems, fmt.Sprintf(format, args...))
	}
	if bad.Lines > 0 {
		c.result.Unread = fmt.Sprintf("%s: %v; what it held is missing here: run the programs again to see it", file, bad)
	}
	// Each process counts as a run with tests that passed: their outcome is not known.
	for _, records := range evidence.ByProcess(records) {
		c.result.Runs++
		c.result.Counted++
		c.seen.Begin(c.result.Runs, records[0].Seed, nil, nil)
		c.seen.Add("", 0, records, &testproc.Process{Outcome: run.Passed}, problem)
		c.seen.Deadlocks.Add(deadlock.Run{N: c.result.Runs, Seed: c.seen.Seed}, records)
	}
	c.finish()
	for _, f := range c.result.Findings {
		f.Evidence.Replay = ""
	}
	return c.result, nil
}

// Join makes one list of suspected findings and those of r: a confirmed finding takes the place
// of the suspected one that it proves. The findings given are not changed; those returned are
// sorted and have ids of their own each. A suspected finding of beside, the packages that the user has not named, is
// returned only if r has shown it.
func Join(static, beside []*finding.Finding, r *Result) []*finding.Finding {
	known := r.Known
	known.Runs, known.Beside = r.Runs, beside
	return join.Findings(static, r.Findings, &known)
}

// run makes one run: every package's test binary once.
func (c *campaign) run(ctx context.Context, n int) error {
	cfg := c.cfg
	seed := cfg.Seed + uint64(n-1)
	c.progress(Event{Kind: RunStarted, Run: n, Runs: cfg.Runs, Seed: seed, Limit: c.result.Timeout})
	open, resting := c.opened(n)
	c.seen.Begin(n, seed, c.knownIn(n), resting)
	if cfg.purpose(n) == run.Measuring {
		c.seen.Hold(n, nil)
		open = nil
	}
	c.open = open
	for i, b := range cfg.Tests.Binaries {
		if err := c.runPackage(ctx, n, i, b); err != nil {
			return err
		}
	}
	return nil
}

// runPackage runs the i-th test binary in run n, and before its first run
// without noise, for the time that it takes, and then under the happens-before engine. A run that
// Interlock has to end is made again with less noise.
func (c *campaign) runPackage(ctx context.Context, n, i int, b build.Binary) error {
	pkg := &c.result.Packages[i]
	c.seen.Seed = c.cfg.Seed + uint64(n-1) // a plan may have chosen another for the package before
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case pkg.NoTests:
		c.show(n == 1, testproc.NoTests(b.Package))
		return nil
	case n == 1:
		if err := c.time.timed(&c.time.plain, c.tests, func() error { return c.measure(ctx, i, b, pkg) }); err != nil {
			return err
		}
		if c.exact != nil {
			err := c.time.timed(&c.time.exact, c.tests, func() error { return c.exact.before(ctx, i, pkg) })
			if err != nil {
				return err
			}
		}
	}
	if !b.Monitored || pkg.Hangs {
		return nil // there is nothing more to see
	}
	o := c.noiseOf(n, pkg)
	p, err := c.runMonitored(ctx, n, fmt.Sprintf("run-%04d-%03d", n, i+1), &o, b, pkg)
	if err == nil && p.Outcome == run.CutShort && c.cutShort(n, o.Strength, pkg, p) {
		o = c.noiseOf(n, pkg)
		p, err = c.runMonitored(ctx, n, fmt.Sprintf("run-%04d-%03d-again", n, i+1), &o, b, pkg)
	}
	if err != nil {
		return err
	}
	c.judge(ctx, n, o.Strength, b, pkg, p)
	c.progress(Event{
		Kind: PackageDone, Run: n, Runs: c.cfg.Runs, Seed: c.seen.Seed, Package: b.Package,
		Outcome: p.Outcome, Elapsed: p.Elapsed, Strength: o.Strength,
		Goroutines: pkg.Size.Goroutines, Events: pkg.Size.Events, Depth: c.cfg.Noise.Where.Depth,
		Held: pkg.Size.Held, Thrashed: pkg.Size.Thrashed,
	})
	return nil
}

// runMonitored runs a test binary in run n with the noise given, and takes up the
// evidence that it leaves in a file of the name.
func (c *campaign) runMonitored(
	ctx context.Context, n int, name string, o *run.Delays, b build.Binary, pkg *run.Package,
) (*testproc.Process, error) {
	prefix := filepath.Join(c.result.Dir, name)
	vars, err := o.Environment(&c.cfg.Settings, c.seen.Number(), prefix, c.cfg.Noise.Only)
	if err != nil {
		return nil, err
	}
	if len(c.cfg.Noise.Pauses) > 0 {
		vars = append(vars, "INTERLOCK_ISOLATE="+arm.PauseList(c.cfg.Noise.Pauses))
	}
	leaveOut, only := pkg.TestsIn(n)
	job := recorded.Job{Name: name, Run: n, Engine: "watch", Evidence: prefix + ".jsonl"}
	p := c.runTests(ctx, job, b, pkg, testproc.Options{
		Env:   append(vars, "INTERLOCK_SECTIONS="+arm.SectionList(c.cfg.Plan, c.open, o.Holds.Within)),
		Leaks: run.LeaksFile(prefix), Timeout: c.result.Timeout, Limit: pkg.Limit,
		Live: c.live(n == 1), Flags: c.without(leaveOut), Test: only,
	})
	if p.Err != nil && ctx.Err() == nil {
		return nil, run.NotStarted(b.Package, p.Err)
	}
	c.collect(ctx, n, pkg, prefix+".jsonl", o, p)
	c.takeLeaks(o.Strength, pkg, run.LeaksFile(prefix), p)
	return p, ctx.Err()
}

// collect reads the evidence of one process. That an interrupted one has left
// none says nothing.
func (c *campaign) collect(
	ctx context.Context, n int, pkg *run.Package, file string, o *run.Delays, p *testproc.Process,
) {
	problem := func(format string, args ...any) {
		c.problem("run %d of %s: %s", n, pkg.Package, fmt.Sprintf(format, args...))
	}
	f, err := os.Open(file)
	if errors.Is(err, os.ErrNotExist) {
		if ctx.Err() == nil {
			problem("the process left no evidence: it died before it began, or the monitor refused to start")
		}
		return
	} else if err != nil {
		problem("%v", err)
		return
	}
	defer f.Close()
	records, bad, err := evidence.Read(f)
	if err != nil {
		problem("%v", err)
	}
	if bad.Lines > 0 {
		problem("%v", bad)
	}
	// Evidence that the tally has not seen before is news, and the next runs are planned by all of it.
	p.CountsOnTime = pkg.CountsOnTime(p.FailedTests())
	if len(records) > 0 {
		c.result.Counted = n
	}
	fresh := c.seen.Add(pkg.Package, o.Strength, records, p, problem)
	c.takeDeadlocks(o.Strength, pkg, p, records)
	c.learn(pkg, o, records)
	event := Event{Kind: Caught, Run: n, Runs: c.cfg.Runs, Seed: c.seen.Seed, Package: pkg.Package}
	known := c.unordered().Pairs()
	for _, pair := range fresh.Pairs {
		if slices.Contains(known, pair) {
			continue // no news
		}
		caught := event
		caught.Pair = pair
		c.progress(caught)
	}
	for _, id := range fresh.Sections {
		caught := event
		caught.Section = id
		c.progress(caught)
	}
}

// next returns whether a campaign goes on after a run.
func (c *campaign) next() Next {
	if c.cfg.AfterRun == nil {
		return GoOn
	}
	c.finish()
	return c.cfg.AfterRun(c.result)
}

// opened returns the sections that run n opens, and those that it leaves alone
// since they are proven broken: noise teaches nothing new there.
func (c *campaign) opened(n int) (open, resting []uint32) {
	for _, id := range arm.Sections(c.cfg.Plan, c.cfg.Noise.Only) {
		if !c.cfg.Noise.Repeat && n%2 == 0 && c.seen.Proven[id] {
			resting = append(resting, id)
		} else {
			open = append(open, id)
		}
	}
	return open, resting
}
