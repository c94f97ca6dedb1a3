package campaign

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/dynamic/build"
	"github.com/interlock-go/interlock/dynamic/campaign/arm"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/child"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/deadlock"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/join"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/recorded"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/testproc"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/testsource"
	"github.com/interlock-go/interlock/dynamic/evidence"
	"github.com/interlock-go/interlock/dynamic/gocmd"
	"github.com/interlock-go/interlock/dynamic/schedule"
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
			c.seen.end(c.result.Counted)
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

// ended takes up why the runs have ended: that a process is not in the record of a campaign of the past is its end.
func (c *campaign) ended(ctx context.Context, err error) error {
	c.result.Interrupted = ctx.Err() != nil
	if ctx.Err() != nil || errors.Is(err, recorded.ErrNotRecorded) {
		return nil
	}
	return err
}

// Gather makes findings of the evidence file of processes that the user has
// started, each of them a run. They were built from p; locks are the uses of locks there. Such findings have no replay
// command. If there is no evidence file, no process has run.
func Gather(p Program, locks map[uint64]LockUse, file string) (*Result, error) {
	cfg := &settings{Settings: Settings{Program: p}}
	c := &campaign{cfg: cfg, result: &Result{Engine: "watch"}, seen: newTally(cfg.Plan, cfg.Workspace.Module.Packages)}
	c.seen.deadlocks = deadlock.New(func() map[uint64]LockUse { return locks })
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
		c.seen.begin(c.result.Runs, records[0].Seed, nil, nil)
		c.seen.add("", 0, records, &testproc.Process{Outcome: Passed}, problem)
		c.seen.deadlocks.Add(deadlock.Run{N: c.result.Runs, Seed: c.seen.seed}, records)
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

// campaign is the state of Run.
type campaign struct {
	cfg    *settings
	result *Result
	seen   *tally
	tests  *recorded.Runner
	exact  *exact   // nil where no tests run under the happens-before engine
	open   []uint32 // sections that the run that goes on may open
	before []pair   // that earlier campaigns have shown
	time   spending
	// replayed has the evidence of the replays of each command, in the order of their runs.
	replayed map[replay][]*tally
}

// ownFolder makes a folder of the name, or of one with a number behind it where there is something in that: processes
// append to files, so that campaigns which share a folder would read each other's evidence.
func ownFolder(name string) (dir string, err error) {
	if name, err = filepath.Abs(name); err != nil {
		return "", err
	}
	for n := 1; ; n++ {
		if dir = name; n > 1 {
			dir = fmt.Sprintf("%s-%d", name, n)
		}
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return "", err
		}
		if files, err := os.ReadDir(dir); err != nil || len(files) == 0 {
			return dir, err
		}
	}
}

func start(cfg *settings) (*campaign, error) {
	cfg.Runs = max(cfg.Runs, 1)
	if cfg.Tests.Floor == 0 {
		cfg.Tests.Floor = child.Floor
	}
	if cfg.Tests.Dir == "" {
		cfg.Tests.Dir = filepath.Join(cfg.Workspace.Dir, "evidence")
	}
	// Evidence goes into a folder of its own.
	dir, err := ownFolder(cfg.Tests.Dir)
	if err != nil {
		return nil, fmt.Errorf("making the evidence folder: %w", err)
	}
	c := &campaign{
		cfg: cfg, seen: newTally(cfg.Plan, cfg.Workspace.Module.Packages),
		tests: &recorded.Runner{Workspace: cfg.Workspace, Record: cfg.Tests.Record},
	}
	timeout := child.Stretch(PlainTimeout(cfg.Tests.Timeout), cfg.Noise.Budget)
	c.result = &Result{Engine: "watch", Seed: cfg.Seed, Dir: dir, Timeout: timeout}
	for _, b := range cfg.Tests.Binaries {
		c.result.Packages = append(c.result.Packages, PackageResult{
			Package: b.Package, NoTests: b.Path == "", auto: c.newSchedule(),
			allTests:   testsource.TestNames(cfg.Workspace.Module.Packages, b.Package),
			bearable:   testsource.Bearable(cfg.Workspace.Module.Packages, b.Package, slices.Max(ladder[:])),
			clockTests: testsource.ClockTests(cfg.Workspace.Module.Packages, b.Package),
		})
	}
	if cfg.Noise.Where.Functions > 0 {
		locks := arm.LockNames(cfg.Workspace.Module.Packages)
		for i := range c.result.Packages {
			c.result.Packages[i].drFinder = schedule.NewDrFinder(locks)
		}
	}
	// The evidence of earlier campaigns is known from the beginning.
	for _, before := range cfg.Before {
		c.remember(before)
	}
	return c, nil
}

// run makes one run: every package's test binary once.
func (c *campaign) run(ctx context.Context, n int) error {
	cfg := c.cfg
	seed := cfg.Seed + uint64(n-1)
	c.progress(Event{Kind: RunStarted, Run: n, Runs: cfg.Runs, Seed: seed, Limit: c.result.Timeout})
	open, resting := c.opened(n)
	c.seen.begin(n, seed, c.knownIn(n), resting)
	if cfg.purpose(n) == measuring {
		c.seen.hold(n, nil)
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
	c.seen.seed = c.cfg.Seed + uint64(n-1) // a plan may have chosen another for the package before
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
	if !b.Monitored || pkg.hangs {
		return nil // there is nothing more to see
	}
	o := c.noiseOf(n, pkg)
	p, err := c.runMonitored(ctx, n, fmt.Sprintf("run-%04d-%03d", n, i+1), &o, b, pkg)
	if err == nil && p.Outcome == CutShort && c.cutShort(n, o.strength, pkg, p) {
		o = c.noiseOf(n, pkg)
		p, err = c.runMonitored(ctx, n, fmt.Sprintf("run-%04d-%03d-again", n, i+1), &o, b, pkg)
	}
	if err != nil {
		return err
	}
	c.judge(ctx, n, o.strength, b, pkg, p)
	c.progress(Event{
		Kind: PackageDone, Run: n, Runs: c.cfg.Runs, Seed: c.seen.seed, Package: b.Package,
		Outcome: p.Outcome, Elapsed: p.Elapsed, Strength: o.strength,
		Goroutines: pkg.size.Goroutines, Events: pkg.size.Events, Depth: c.cfg.Noise.Where.Depth,
		Held: pkg.size.Held, Thrashed: pkg.size.Thrashed,
	})
	return nil
}

// runMonitored runs a test binary in run n with the noise given, and takes up the
// evidence that it leaves in a file of the name.
func (c *campaign) runMonitored(
	ctx context.Context, n int, name string, o *noise, b build.Binary, pkg *PackageResult,
) (*testproc.Process, error) {
	prefix := filepath.Join(c.result.Dir, name)
	vars, err := o.environment(&c.cfg.Settings, c.seen, prefix, c.cfg.Noise.Only)
	if err != nil {
		return nil, err
	}
	if len(c.cfg.Noise.Pauses) > 0 {
		vars = append(vars, "INTERLOCK_ISOLATE="+arm.PauseList(c.cfg.Noise.Pauses))
	}
	leaveOut, only := pkg.testsIn(n)
	job := recorded.Job{Name: name, Run: n, Engine: "watch", Evidence: prefix + ".jsonl"}
	p := c.runTests(ctx, job, b, pkg, testproc.Options{
		Env:   append(vars, "INTERLOCK_SECTIONS="+arm.SectionList(c.cfg.Plan, c.open, o.holds.Within)),
		Leaks: leaksFile(prefix), Timeout: c.result.Timeout, Limit: pkg.Limit,
		Live: c.live(n == 1), Flags: c.without(leaveOut), Test: only,
	})
	if p.Err != nil && ctx.Err() == nil {
		return nil, notStarted(b.Package, p.Err)
	}
	c.collect(ctx, n, pkg, prefix+".jsonl", o, p)
	c.takeLeaks(o.strength, pkg, leaksFile(prefix), p)
	return p, ctx.Err()
}

// collect reads the evidence of one process. That an interrupted one has left
// none says nothing.
func (c *campaign) collect(ctx context.Context, n int, pkg *PackageResult, file string, o *noise, p *testproc.Process) {
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
	p.CountsOnTime = pkg.countsOnTime(p.FailedTests())
	if len(records) > 0 {
		c.result.Counted = n
	}
	fresh := c.seen.add(pkg.Package, o.strength, records, p, problem)
	c.takeDeadlocks(o.strength, pkg, p, records)
	c.learn(pkg, o, records)
	event := Event{Kind: Caught, Run: n, Runs: c.cfg.Runs, Seed: c.seen.seed, Package: pkg.Package}
	unordered := c.exact.pairs()
	for _, pair := range fresh.pairs {
		if slices.Contains(unordered, pair) {
			continue // no news
		}
		caught := event
		caught.Pair = pair
		c.progress(caught)
	}
	for _, id := range fresh.sections {
		caught := event
		caught.Section = id
		c.progress(caught)
	}
}

func (c *campaign) problem(format string, args ...any) {
	c.result.Problems = append(c.result.Problems, fmt.Sprintf(format, args...))
}

// report returns the output of `go test` for a package.
func (c *campaign) report(p *testproc.Process, pkg string) []byte {
	return p.Report(pkg, c.verbose(), shownFile(&c.cfg.Settings))
}

// live returns where the output of a process goes while it runs; nil is nowhere.
func (c *campaign) live(wanted bool) io.Writer {
	if wanted && c.verbose() {
		return c.cfg.Tests.Stdout
	}
	return nil
}

// show prints the first run whole, then each package's first failure.
func (c *campaign) show(wanted bool, text []byte) {
	if wanted && c.cfg.Tests.Stdout != nil {
		c.cfg.Tests.Stdout.Write(text)
	}
}

func (c *campaign) progress(e Event) {
	if c.cfg.Progress != nil {
		c.cfg.Progress(e)
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

// finish makes the result of the evidence so far.
func (c *campaign) finish() {
	r := c.result
	c.seen.shown = nil // of an earlier call
	var claims map[string]string
	r.Findings, claims = c.seen.findings(&c.cfg.Settings, r.Packages, c.exact)
	r.Coverage, r.near = c.seen.coverage(), c.seen.near
	r.caught = c.caughtSoFar()
	r.Known = join.Known{Lines: map[join.Line]bool{}, Claims: claims, Whole: map[string]int{},
		Sides: firstSides(c.cfg.Plan, r.Findings), Waited: c.seen.waitedAt()}
	for _, id := range r.Coverage.Reached {
		s := c.cfg.Plan.Site(id)
		r.Known.Lines[join.Line{File: s.File, Line: s.Line}] = true
	}
	for i := range r.Packages {
		r.Known.LeftOut = append(r.Known.LeftOut, r.Packages[i].LeftOut...)
	}
	reachedBlocked(r)
	r.Sections, r.Ended = len(arm.Sections(c.cfg.Plan, c.cfg.Noise.Only)), slices.Sorted(maps.Keys(c.seen.ended))
	for id, times := range c.seen.ended {
		if s := c.seen.section(id); s != nil && s.Finding != "" {
			r.Known.Whole[s.Finding] += times
		}
	}
	r.Counters = c.seen.counters
}

// reachedBlocked adds to the lines that were reached those at which the goroutines of findings wait for ever, and those
// at which these were called: a test that hangs without noise runs in no monitored run.
func reachedBlocked(r *Result) {
	for _, f := range r.Findings {
		if f.Evidence.Blocked == "" {
			continue
		}
		for _, a := range f.Accesses {
			if a.Goroutine == nil {
				continue
			}
			for _, frame := range slices.Concat(a.Goroutine.Stack, a.Goroutine.Created) {
				r.Known.Lines[join.Line{File: frame.File, Line: frame.Line}] = true
			}
		}
		for _, h := range f.Evidence.Holders {
			r.Known.Lines[join.Line{File: h.File, Line: h.Line}] = true
		}
	}
}

// notStarted returns the error that the tests of a package could not be started. This system may run
// programs of another architecture, so that one is refused only here.
func notStarted(pkg string, err error) error {
	if errors.Is(err, syscall.ENOEXEC) {
		return gocmd.Refuse(fmt.Sprintf("starting the tests of %s: they are built for another system than this one, "+
			"%s/%s", pkg, runtime.GOOS, runtime.GOARCH), "unset GOARCH")
	}
	return fmt.Errorf("starting the tests of %s: %w", pkg, err)
}
