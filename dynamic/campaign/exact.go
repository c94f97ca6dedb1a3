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
	"github.com/interlock-go/interlock/atomicsets/plan"
	"github.com/interlock-go/interlock/dynamic/build"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/child"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/recorded"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/stacktext"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/testproc"
	"github.com/interlock-go/interlock/dynamic/evidence"
	"github.com/interlock-go/interlock/dynamic/predict"
)

// exactCost is how much longer tests take under the happens-before engine, in percent: it
// stretches their timeout.
const exactCost = 1000

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
		c.seen.begin(run, cfg.Seed+uint64(run-1), nil, nil)
		c.progress(Event{Kind: RunStarted, Run: run, Runs: cfg.Runs, Seed: c.seen.seed, Limit: c.result.Timeout})
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
	e.seen.shown = nil // of an earlier call
	e.result.Findings = e.withSplits(e.withPredicted(withUnordered(nil, e.findings()), e.result.Packages))
	finding.Sort(e.result.Findings)
	finding.Seal(e.result.Findings)
	e.result.Known.Sides = firstSides(e.cfg.Plan, e.result.Findings)
}

// exact has the evidence of runs under the happens-before engine.
type exact struct {
	*campaign
	races map[exactKey]*exactRace
	// predicted are races of another order of a run, by package predict; those that a run has shown are in races, too.
	predicted map[exactKey]*exactRace
	splits    map[uint32]*predictedSplit // by section
	orders    []*evidence.Record         // of locks, which another order of a run would deadlock by
	lines     map[place][]*plan.Site     // the engine records lines; the plan has the accesses there
	runs      int                        // begun
}

func newExact(c *campaign) *exact {
	e := &exact{
		campaign: c, lines: map[place][]*plan.Site{},
		races: map[exactKey]*exactRace{}, predicted: map[exactKey]*exactRace{},
		splits: map[uint32]*predictedSplit{},
	}
	for i := range c.cfg.Plan.Sites {
		s := &c.cfg.Plan.Sites[i]
		at := place{s.File, s.Line}
		e.lines[at] = append(e.lines[at], s)
	}
	return e
}

// exactKey distinguishes races by their two places in the program, in order: x = x + 1 in two
// functions is one race, whichever of their reads and writes the engine has compared.
type exactKey [2]place

func (p exactKey) compare(q exactKey) int { return cmp.Or(p[0].compare(q[0]), p[1].compare(q[1])) }

func keyOf(sides *[2]exactSide) exactKey {
	key := exactKey{sides[0].at, sides[1].at}
	slices.SortFunc(key[:], place.compare)
	return key
}

func (p place) compare(q place) int {
	return cmp.Or(cmp.Compare(p.file, q.file), cmp.Compare(p.line, q.line))
}

// exactRace has the evidence of the runs on a race.
type exactRace struct {
	sides [2]exactSide // in the order of the key, of the first record that has most writes
	run   int
	seed  uint64
	test  string // package
	hits  map[int]bool
	count int
}

// exactSide is an access as the engine recorded it.
type exactSide struct {
	goroutine finding.Goroutine
	frame     finding.Frame // the innermost of the user's own
	at        place         // of it
	mode      finding.Mode
	// The kind of the accessed variable, if the stack shows that it is a channel or a WaitGroup, and the operation.
	kind string
	op   finding.Mode
}

// run runs one test binary in a campaign of this engine alone.
func (e *exact) run(ctx context.Context, n int, b build.Binary, pkg *PackageResult, name string) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if pkg.NoTests {
		e.show(n == 1, testproc.NoTests(b.Package))
		return nil
	}
	o := testproc.Options{Timeout: e.result.Timeout, Live: e.live(n == 1), Flags: e.cfg.Tests.Flags}
	var made noise
	if e.cfg.Noise.Where.Text != "" {
		var err error
		made = e.noiseOf(n, pkg)
		made.quiet = e.cfg.Noise.Where.Functions > 0 // the engine needs no windows
		if o.Env, err = made.environment(&e.cfg.Settings, e.seen, filepath.Join(e.result.Dir, name), nil); err != nil {
			return err
		}
	}
	p, races, err := e.once(ctx, b, recorded.Job{Name: name, Run: n}, o)
	if err != nil {
		return err
	}
	if e.cfg.Noise.Where.Text != "" {
		records, err := readRecords(filepath.Join(e.result.Dir, name+".jsonl"))
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
	e.show(n == 1 || p.Outcome != Passed && pkg.First == nil, e.report(p, b.Package))
	switch {
	case p.Outcome == Passed:
	case races > 0 && p.FailedByRaces(): // which are findings, and may be accepted
	case p.Outcome == CutShort:
		pkg.NotCompleted++
		if pkg.FirstCut == nil {
			pkg.FirstCut = failureOf(p, n, e.seen.seed, 0)
		}
	default:
		pkg.Failures++
		if pkg.First == nil {
			pkg.First = failureOf(p, n, e.seen.seed, 0)
		}
	}
	e.progress(Event{
		Kind: PackageDone, Run: n, Runs: e.cfg.Runs, Seed: e.seen.seed,
		Package: b.Package, Outcome: p.Outcome, Elapsed: p.Elapsed,
		Goroutines: pkg.size.Goroutines, Events: pkg.size.Events, Depth: e.cfg.Noise.Where.Depth,
		Held: pkg.size.Held, Thrashed: pkg.size.Thrashed,
	})
	return nil
}

// before runs a test binary once, before the monitored runs of its package. The campaign goes on whatever happens, as
// the monitored runs follow, and reports a run that is missing.
func (e *exact) before(ctx context.Context, i int, pkg *PackageResult) error {
	at := slices.IndexFunc(e.cfg.First, func(b build.Binary) bool { return b.Package == pkg.Package && b.Path != "" })
	if at < 0 || pkg.hangs || pkg.knewExact { // one such run of the same tests says it all
		return nil
	}
	// The run is shorter than the tests' timeout would have it: the monitored ones are to come.
	p, races, err := e.once(ctx, e.cfg.First[at], recorded.Job{Name: fmt.Sprintf("exact-%03d", i+1)}, testproc.Options{
		Timeout: child.Stretch(PlainTimeout(e.cfg.Tests.Timeout), exactCost),
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
	pkg.learned.exact = true
	for _, p := range e.pairs() {
		pkg.auto.Caught(p[0], p[1])
	}
	e.expect(pkg)
	// A run that was not completed is reported.
	if p.Outcome == CutShort && stacktext.StandStill(p.Output) {
		p.Outcome = Hung
	}
	switch {
	case p.Outcome == Passed || races > 0 && p.Outcome == Failed || p.Outcome == pkg.Plain,
		p.Outcome == pkg.plainOthers && pkg.likePlain(p):
	case p.Outcome == Failed && pkg.Plain != "" && pkg.likePlain(p):
	case p.Outcome == CutShort:
		e.result.Partly++
		e.problem("the run of the tests of %s under the happens-before engine was ended after %s, where without it they "+
			"take %s: the rest of it is left to the watch engine", pkg.Package, p.Elapsed.Round(time.Second/10),
			pkg.PlainTime.Round(time.Second/10))
	default:
		e.result.Partly++
		pkg.ExactFailure = failureOf(p, 0, e.seen.seed, 0)
		pkg.ExactFailure.Waits = e.waitsOf(p)
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
	if p.Outcome == TimedOut {
		return fmt.Sprintf("%s%s timed out under the happens-before engine, which is slower%s", tests, pkg, rest)
	}
	says := ""
	if len(waits) > 0 {
		says = fmt.Sprintf(" (waiting %s)", strings.Join(waits, ", "))
	} else if first := p.Said(); first != "" {
		says = fmt.Sprintf(" (%s)", first)
	}
	return fmt.Sprintf("%s%s %s under the happens-before engine, and not without it%s; once more: %s%s",
		tests, pkg, p.Outcome, says, commandLine([]string{"interlock", "test", "-engine=hb", pkg}, runOnly(p)), rest)
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
	e.runs = e.seen.runs
	file := cmp.Or(job.Evidence, filepath.Join(e.result.Dir, job.Name+".jsonl"))
	job.Engine, job.Seed, job.Evidence = e.cfg.Engine.Name(), e.seen.seed, file
	if e.cfg.Engine.Race {
		o.Env = append(o.Env, e.reports(file))
		job.Gather = func() error { return e.gatherReports(file) }
	}
	o.Env = append(o.Env,
		fmt.Sprintf("INTERLOCK_HB_MEMORY=%d", e.cfg.Engine.Memory),
		"INTERLOCK_OUT="+file, fmt.Sprintf("INTERLOCK_RUN=%d", e.seen.runs), fmt.Sprintf("INTERLOCK_SEED=%d", e.seen.seed),
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
		return p, 0, notStarted(b.Package, p.Err)
	}
	if err := p.RefusedFlag(b.Package, e.cfg.Tests.Flags); err != nil {
		return p, 0, err
	}
	// The findings of an engine at fault mean nothing.
	if p.Exit == faultExit && bytes.Contains(p.Output, []byte("interlock: happens-before engine: ")) {
		return p, 0, &engineFault{b.Package, lastLine(p.Output)}
	}
	races, err = e.take(file, b.Package)
	if e.cfg.Engine.Predict && err == nil {
		err = e.predict(trace, b)
	}
	return p, races, err
}
