package campaign

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/dynamic/build"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/child"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/recorded"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/stacktext"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/testproc"
	"github.com/interlock-go/interlock/dynamic/campaign/judge"
	"github.com/interlock-go/interlock/dynamic/campaign/run"
	"github.com/interlock-go/interlock/dynamic/predict"
)

// Exact runs test binaries that are built under the happens-before engine, see
// build.PrepareExact, and makes a confirmed finding of each race that a run shows: two accesses
// that nothing orders. Runs make noise only by the schedule of cfg.Where, if that is not auto: the binaries are built
// with the monitor too then, see build.PrepareScheduled. Errors are as for [Run].
func Exact(ctx context.Context, described ExactConfig) (*Result, error) {
	cfg := described.settings()
	c, err := start(cfg)
	if err != nil {
		return nil, err
	}
	c.result.Engine, c.result.Sampled = cfg.Engine.Name(), cfg.Engine.Sampling.String()
	e := newExact(c)
	for run := 1; run <= cfg.Runs && err == nil; run++ {
		c.seen.Begin(run, cfg.Seed+uint64(run-1), nil, nil)
		c.progress(Event{Kind: RunStarted, Run: run, Runs: cfg.Runs, Seed: c.seen.Seed, Limit: c.result.Timeout})
		for i, b := range cfg.Tests.Binaries {
			if err = e.run(ctx, run, b, &c.result.Packages[i], fmt.Sprintf("run-%04d-%03d", run, i+1)); err != nil {
				break
			}
		}
		if err != nil {
			break
		}
		c.result.Runs, c.result.Counted = run, run
		c.progress(Event{Kind: Estimated, Run: run, Runs: cfg.Runs,
			Elapsed: time.Duration(cfg.Runs-run) * c.asLoaded(c.tests.Spent) / time.Duration(run)})
		if e.finishExact(); cfg.AfterRun != nil && cfg.AfterRun(c.result) != GoOn {
			break
		}
	}
	e.finishExact()
	return c.result, c.ended(ctx, err)
}

// finishExact makes the findings of the evidence so far, in a campaign of this engine alone.
func (e *exact) finishExact() {
	e.seen.Shown = nil // of an earlier call
	found := e.found
	races := judge.WithUnordered(nil, found.Findings())
	e.result.Findings = found.WithSplits(found.WithPredicted(races, e.result.Packages))
	finding.Sort(e.result.Findings)
	finding.Seal(e.result.Findings)
	e.result.Known.Sides = judge.FirstSides(e.cfg.Plan, e.result.Findings)
}

func newExact(c *campaign) *exact {
	caught := func(pkg string) {
		c.progress(Event{Kind: Caught, Run: c.seen.Runs, Runs: c.cfg.Runs, Seed: c.seen.Seed, Package: pkg})
	}
	return &exact{c, judge.NewUnordered(&c.cfg.Settings, c.seen, c.problem, caught)}
}

// run runs one test binary in a campaign of this engine alone.
func (e *exact) run(ctx context.Context, n int, b build.Binary, pkg *run.Package, name string) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if pkg.NoTests {
		e.show(n == 1, testproc.NoTests(b.Package))
		return nil
	}
	o := testproc.Options{Timeout: e.result.Timeout, Live: e.live(n == 1), Flags: e.cfg.Tests.Flags}
	var made run.Delays
	if e.cfg.Noise.Where.Text != "" {
		var err error
		made = e.noiseOf(n, pkg)
		made.Quiet = e.cfg.Noise.Where.Functions > 0 // the engine needs no windows
		prefix := filepath.Join(e.result.Dir, name)
		if o.Env, err = made.Environment(&e.cfg.Settings, e.seen.Number(), prefix, nil); err != nil {
			return err
		}
	}
	p, races, err := e.once(ctx, b, recorded.Job{Name: name, Run: n}, o)
	if err != nil {
		return err
	}
	if e.cfg.Noise.Where.Text != "" {
		records, err := run.ReadRecords(filepath.Join(e.result.Dir, name+".jsonl"))
		if err != nil {
			return err
		}
		e.learn(pkg, &made, records)
	}
	pkg.Runs++
	e.result.Counted = n
	// How an interrupted process ended says nothing of its tests; its races have happened.
	if ctx.Err() != nil {
		return ctx.Err()
	}
	pkg.NoneRan = p.RanNone()
	e.show(n == 1 || p.Outcome != run.Passed && pkg.First == nil, e.report(p, b.Package))
	switch {
	case p.Outcome == run.Passed:
	case races > 0 && p.FailedByRaces(): // which are findings, and may be accepted
	case p.Outcome == run.CutShort:
		pkg.NotCompleted++
		if pkg.FirstCut == nil {
			pkg.FirstCut = run.FailureOf(p, n, e.seen.Seed, 0)
		}
	default:
		pkg.Failures++
		if pkg.First == nil {
			pkg.First = run.FailureOf(p, n, e.seen.Seed, 0)
		}
	}
	e.progress(Event{
		Kind: PackageDone, Run: n, Runs: e.cfg.Runs, Seed: e.seen.Seed,
		Package: b.Package, Outcome: p.Outcome, Elapsed: p.Elapsed,
		Goroutines: pkg.Size.Goroutines, Events: pkg.Size.Events, Depth: e.cfg.Noise.Where.Depth,
		Held: pkg.Size.Held, Thrashed: pkg.Size.Thrashed,
	})
	return nil
}

// before runs a test binary once, before the monitored runs of its package. The campaign goes on whatever happens, as
// the monitored runs follow, and reports a run that is missing.
func (e *exact) before(ctx context.Context, i int, pkg *run.Package) error {
	at := slices.IndexFunc(e.cfg.First, func(b build.Binary) bool { return b.Package == pkg.Package && b.Path != "" })
	if at < 0 || pkg.Hangs || pkg.KnewExact { // one such run of the same tests says it all
		return nil
	}
	// The run is shorter than the tests' timeout would have it: the monitored ones are to come.
	p, races, err := e.once(ctx, e.cfg.First[at], recorded.Job{Name: fmt.Sprintf("exact-%03d", i+1)}, testproc.Options{
		Timeout: child.Stretch(run.PlainTimeout(e.cfg.Tests.Timeout), exactCost),
		Limit:   child.Stretch(pkg.PlainTime, exactCost) + e.cfg.Tests.Floor,
		Flags:   e.without(pkg.LeftOut),
	})
	var fault *engineFault
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &fault):
		e.problem("%v; the watch engine goes on alone", fault)
		return nil
	case err != nil:
		return err
	}
	// Its races need no further noise.
	e.result.Exact++
	pkg.Learned.Exact = true
	for _, p := range e.found.Pairs() {
		pkg.Auto.Caught(p[0], p[1])
	}
	e.found.Expect(pkg)
	// A run that was not completed is reported.
	if p.Outcome == run.CutShort && stacktext.StandStill(p.Output) {
		p.Outcome = run.Hung
	}
	switch {
	case p.Outcome == run.Passed || races > 0 && p.Outcome == run.Failed || p.Outcome == pkg.Plain,
		p.Outcome == pkg.PlainOthers && pkg.LikePlain(p):
	case p.Outcome == run.Failed && pkg.Plain != "" && pkg.LikePlain(p):
	case p.Outcome == run.CutShort:
		e.result.Partly++
		e.problem("the run of the tests of %s under the happens-before engine was ended after %s, where without it they "+
			"take %s: the rest of it is left to the watch engine", pkg.Package, p.Elapsed.Round(time.Second/10),
			pkg.PlainTime.Round(time.Second/10))
	default:
		e.result.Partly++
		pkg.ExactFailure = run.FailureOf(p, 0, e.seen.Seed, 0)
		pkg.ExactFailure.Waits = e.cfg.WaitsOf(p)
		pkg.SeenExactly = failedExactly(pkg.Package, p, pkg.ExactFailure.Waits)
	}
	e.progress(Event{
		Kind: ExactDone, Run: 1, Runs: e.cfg.Runs, Package: pkg.Package, Outcome: p.Outcome, Elapsed: p.Elapsed,
	})
	return nil
}

// failedExactly returns in a line which tests failed under the engine alone, how, and where those wait that hang.
func failedExactly(pkg string, p *testproc.Process, waits []string) string {
	const rest = ": what did not run then is left to the watch engine"
	tests := strings.Join(p.FailedTests(), ", ")
	if tests != "" {
		tests += " of "
	} else {
		tests = "the tests of "
	}
	if p.Outcome == run.TimedOut {
		return fmt.Sprintf("%s%s timed out under the happens-before engine, which is slower%s", tests, pkg, rest)
	}
	says := ""
	if len(waits) > 0 {
		says = fmt.Sprintf(" (waiting %s)", strings.Join(waits, ", "))
	} else if first := p.Said(); first != "" {
		says = fmt.Sprintf(" (%s)", first)
	}
	return fmt.Sprintf("%s%s %s under the happens-before engine, and not without it%s; once more: %s%s",
		tests, pkg, p.Outcome, says, run.CommandLine([]string{"interlock", "test", "-engine=hb", pkg}, runOnly(p)), rest)
}

// runOnly returns the flag of go test that chooses the tests that failed.
func runOnly(p *testproc.Process) []string {
	if tests := p.FailedTests(); len(tests) > 0 {
		return []string{"-run=^(" + strings.Join(tests, "|") + ")$"}
	}
	return nil
}

// once runs a test binary, takes up the races that it shows, and returns how many that are. An error of
// the engine itself is an *engineFault.
func (e *exact) once(
	ctx context.Context, b build.Binary, job recorded.Job, o testproc.Options,
) (p *testproc.Process, races int, err error) {
	e.found.Runs = e.seen.Runs
	file := cmp.Or(job.Evidence, filepath.Join(e.result.Dir, job.Name+".jsonl"))
	job.Engine, job.Seed, job.Evidence = e.cfg.Engine.Name(), e.seen.Seed, file
	if e.cfg.Engine.Race {
		o.Env = append(o.Env, e.reports(file))
		job.Gather = func() error { return e.gatherReports(file) }
	}
	o.Env = append(o.Env,
		fmt.Sprintf("INTERLOCK_HB_MEMORY=%d", e.cfg.Engine.Memory),
		"INTERLOCK_OUT="+file, fmt.Sprintf("INTERLOCK_RUN=%d", e.seen.Runs), fmt.Sprintf("INTERLOCK_SEED=%d", e.seen.Seed),
	)
	o.Env = append(o.Env, e.cfg.Engine.Sampling.Env()...)
	trace := strings.TrimSuffix(file, ".jsonl") + ".trace"
	if e.cfg.Engine.Predict {
		job.Once = true
		if err := predict.Create(trace); err != nil {
			return p, 0, err
		}
		o.Env = append(o.Env, "INTERLOCK_TRACE="+trace)
	}
	p = e.tests.Run(ctx, job, b, o)
	if p.Err != nil && ctx.Err() == nil {
		return p, 0, run.NotStarted(b.Package, p.Err)
	}
	if err := p.RefusedFlag(b.Package, e.cfg.Tests.Flags); err != nil {
		return p, 0, err
	}
	// The findings of an engine at fault mean nothing.
	if p.Exit == faultExit && bytes.Contains(p.Output, []byte("interlock: happens-before engine: ")) {
		return p, 0, &engineFault{b.Package, lastLine(p.Output)}
	}
	races, err = e.found.Take(file, b.Package)
	e.result.Forgot = e.found.Forgot
	if e.cfg.Engine.Predict && err == nil {
		err = e.found.Predict(trace, b)
	}
	return p, races, err
}

// faultExit is the exit code of a program after an internal error of the engine.
const faultExit = 3

// engineFault is an error of the engine in the tests of a package.
type engineFault struct{ pkg, said string }

func (e *engineFault) Error() string { return fmt.Sprintf("the tests of %s: %s", e.pkg, e.said) }

func lastLine(output []byte) string {
	lines := strings.Split(strings.TrimSpace(string(output)), "\n")
	return lines[len(lines)-1]
}
