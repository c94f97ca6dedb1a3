// Package testrun carries out a plan: it prepares the instrumented build, builds
// the tests, and runs the campaign, with progress on the way. It also words how
// the tests of a package failed.
package testrun

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/atomicsets"
	"github.com/interlock-go/interlock/cmd/internal/machinefault"
	"github.com/interlock-go/interlock/cmd/internal/planner"
	"github.com/interlock-go/interlock/cmd/internal/progress"
	"github.com/interlock-go/interlock/cmd/internal/report"
	"github.com/interlock-go/interlock/dynamic/build"
	"github.com/interlock-go/interlock/dynamic/campaign"
	"github.com/interlock-go/interlock/dynamic/campaign/record"
)

// Settings are those of a campaign that users set with flags.
type Settings struct {
	campaign.Series
	Bounded bool // see campaign.Config
	Tests   campaign.Tests
	Noise   campaign.Noise
	Replay  campaign.Replays
	// Engine is the happens-before engine: of all runs, see [Exact], or of the one before the monitored runs, which First
	// asks for, where it can be made.
	Engine  campaign.Engine
	First   bool
	Vet     string // as go test's -vet has it; "off" for none
	Verbose bool
	Stop    Stop
	Keep    Keep
}

// Keep is how a campaign is kept.
type Keep struct {
	Record *record.Record // nil keeps nothing
	// Settings has all settings of a run except the build, the seed and the number of runs. It names the campaign.
	Settings string
}

// Built is a plan with its tests built.
type Built struct {
	Planned   *planner.Planned
	Workspace *build.Workspace
	Vetted    []build.Complaint // of vet; go test would not run the tests of these packages
	Binaries  []build.Binary
	Exact     []build.Binary // of the same packages, under the happens-before engine; or none

	exact *build.Workspace // that Exact are built in, or nil
}

// Done is a campaign that has been carried out.
type Done struct {
	*Built
	Result *campaign.Result
	Asked  int   // runs, those of earlier campaigns of the record included; where Stop.Rate has ended them, those made
	Unkept error // why the record lacks some of these runs; nil if it has all, or there is none
}

// Failed reports whether the tests of a package failed, or would under go test.
func (d *Done) Failed() bool {
	return len(d.Vetted) > 0 || d.Result.Failed() ||
		slices.ContainsFunc(d.Result.Packages, func(p campaign.PackageResult) bool { return p.ExactFailure != nil })
}

// FailedWithoutNoise reports whether tests failed, or would not run, for another reason than noise.
func (d *Done) FailedWithoutNoise() bool {
	return len(d.Vetted) > 0 || slices.ContainsFunc(d.Result.Packages, func(p campaign.PackageResult) bool {
		return p.PlainFailure != nil || p.Failures > p.UnderNoise
	})
}

// Close removes the files of the build.
func (b *Built) Close() error {
	err := b.Workspace.Close()
	if b.exact != nil {
		err = errors.Join(err, b.exact.Close())
	}
	if err != nil {
		return fmt.Errorf("removing the temporary folder: %w", err)
	}
	return nil
}

// Run carries out the plan pl. The tests' own output goes to out, if that is not nil. The result must be closed, also
// if there is an error.
func Run(
	ctx context.Context, p *progress.Reporter, pl *planner.Planned, s Settings, out io.Writer,
) (*Done, error) {
	defer p.Working("preparing the instrumented build")()
	b, err := Build(ctx, p, pl, s)
	if b == nil {
		return nil, err
	}
	d := &Done{Built: b}
	if err != nil {
		return d, err
	}
	s.show(p, out, "noise takes")
	err = d.recorded(ctx, p, s, b.Campaign)
	if r := d.Result; err == nil && s.Bounded && !r.Interrupted && r.PerRun > 0 && showsMoreByRuns(d) {
		p.Line("%s", moreRuns(d.Result, s.Runs))
	}
	return d, err
}

// showsMoreByRuns reports whether a further run may show what none has: some access or lock is monitored.
func showsMoreByRuns(d *Done) bool {
	return d.Result.Coverage.Monitored > 0 || len(campaign.LockUses(d.Planned.Module.Packages)) > 0
}

// moreRuns returns a sentence on the time that as many more runs would take. Of a campaign that was bounded by time it
// says how many runs were made and why, and the time that all of them would take.
func moreRuns(r *campaign.Result, asked int) string {
	if r.Unmade > 0 {
		return fmt.Sprintf("%d of %s made in the time of a default run, as one with noise takes about %s: "+
			"-runs=%d makes them all, in about %s", r.Runs, progress.Count(asked, "run"), InWords(r.PerRun), asked,
			InWords(time.Duration(asked)*r.PerRun))
	}
	return fmt.Sprintf("%s: -runs=%d, about %s", progress.Count(asked, "more run"), r.Runs+asked,
		InWords(time.Duration(asked)*r.PerRun))
}

// InWords rounds a time that was estimated.
func InWords(d time.Duration) string {
	if d < 2*time.Minute {
		return fmt.Sprintf("%d s", max(1, int(d.Round(time.Second).Seconds())))
	}
	return fmt.Sprintf("%d min", int(d.Round(time.Minute).Minutes()))
}

// show has the campaign show its progress, and the output of the tests if out is not nil. takes is why it takes time.
func (s *Settings) show(p *progress.Reporter, out io.Writer, takes string) {
	s.Progress = watch(p, s.Verbose)
	if out != nil {
		s.Tests.Stdout = &interleaved{p, out}
		s.reportTimeout(p, takes)
	}
}

// Build builds the tests of the plan pl. It uses Vet, First and Verbose of s. The caller closes the result in any case.
func Build(ctx context.Context, p *progress.Reporter, pl *planner.Planned, s Settings) (*Built, error) {
	defer p.Working("preparing the instrumented build")()
	ws, err := build.Prepare(ctx, pl.Module, pl.Plan)
	if err != nil {
		return nil, err
	}
	b := &Built{Planned: pl, Workspace: ws}
	p.Say("building the tests")
	if b.Binaries, err = ws.BuildTests(ctx); err != nil {
		return b, err
	}
	// The monitored binaries are built without vet, which would judge rewritten files.
	if s.Vet != "off" {
		p.Say("running go vet as go test does")
		if b.Vetted, err = ws.VetTests(ctx, s.Vet); err != nil {
			return b, err
		}
	}
	if s.First {
		if b.Exact, err = b.buildExact(ctx, p); err != nil {
			return b, err
		}
	}
	if s.Verbose {
		p.Line("monitored accesses: %d, rewritten files: %d, seeds from %d", atomicsets.Count(pl.Plan).Monitored,
			ws.Rewritten(), s.Seed)
	}
	for _, line := range pl.Module.LeaksUnseen() {
		p.Line("%s", line)
	}
	return b, nil
}

// Campaign runs the tests that were built.
func (b *Built) Campaign(ctx context.Context, s Settings) (*campaign.Result, error) {
	s.Tests.Binaries = b.Binaries
	return campaign.Run(ctx, campaign.Config{
		Program: campaign.Program{Workspace: b.Workspace, Plan: b.Planned.Plan},
		Tests:   s.Tests, Noise: s.Noise, Replay: s.Replay, Series: s.Series, Bounded: s.Bounded,
		First: campaign.First{Binaries: b.Exact, Memory: s.Engine.Memory, Predict: s.Engine.Predict},
	})
}

// buildExact builds the tests under the happens-before engine. Where that does not work, it says why, and returns
// none: the watch engine finds much without it.
func (b *Built) buildExact(ctx context.Context, p *progress.Reporter) (bins []build.Binary, err error) {
	p.Say("building the tests and what they import under the happens-before engine, which takes minutes the first time")
	if b.exact, err = build.PrepareExact(ctx, b.Planned.Module, false); err == nil {
		bins, err = b.exact.BuildTests(ctx)
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		why, isMachine := machinefault.Find(err.Error())
		if !isMachine {
			why = strings.Join(strings.Fields(strings.ReplaceAll(err.Error(), "; use -engine=watch", "")), " ")
		}
		p.Line("the watch engine goes on alone: %s", why)
		return nil, nil
	}
	return bins, nil
}

// Exact builds the tests of pl under the happens-before engine, or with s.Engine.Race the race detector of the Go
// distribution, and runs them, with the noise of s.Noise.Where if there is any. Otherwise it is as [Run].
func Exact(
	ctx context.Context, p *progress.Reporter, pl *planner.Planned, s Settings, out io.Writer,
) (*Done, error) {
	defer p.Working("preparing the instrumented build")()
	var ws *build.Workspace
	var err error
	switch scheduled := s.Noise.Where.Text != ""; {
	case s.Engine.Race && scheduled:
		ws, err = build.PrepareRace(ctx, pl.Module, pl.Plan)
	case s.Engine.Race:
		ws, err = build.PrepareRace(ctx, pl.Module, nil)
	case scheduled:
		ws, err = build.PrepareScheduled(ctx, pl.Module, pl.Plan)
	default:
		ws, err = build.PrepareExact(ctx, pl.Module, s.Engine.Sampling.Loops)
	}
	if err != nil {
		return nil, err
	}
	d := &Done{Built: &Built{Planned: pl, Workspace: ws}}
	p.Say("building the tests and what they import, which takes minutes the first time")
	if d.Binaries, err = ws.BuildTests(ctx); err != nil {
		return d, err
	}
	pl.Module = ws.Module // it knows the packages that do not compile
	s.show(p, out, "the instrumentation takes")
	return d, d.recorded(ctx, p, s, func(ctx context.Context, s Settings) (*campaign.Result, error) {
		s.Tests.Binaries = d.Binaries
		return campaign.Exact(ctx, campaign.ExactConfig{
			Program: campaign.Program{Workspace: ws, Plan: pl.Plan}, Tests: s.Tests, Engine: s.Engine,
			Where: s.Noise.Where, Strength: s.Noise.Strength, Series: s.Series,
		})
	})
}

// watch shows a campaign's events.
func watch(p *progress.Reporter, verbose bool) func(campaign.Event) {
	caught := 0
	var end time.Time // that was announced
	long := time.AfterFunc(0, func() {})
	at := func(e campaign.Event, of string) {
		p.At(max(e.Run-1, 0), e.Runs, fmt.Sprintf("runs, conflicts caught: %d%s", caught, of))
	}
	return func(e campaign.Event) {
		switch e.Kind {
		case campaign.RunStarted:
			at(e, "")
		case campaign.Bounded:
			if e.Run == 1 && e.Runs > 1 {
				end = time.Now().Add(e.Elapsed)
				p.Line("%s", estimate(e))
			}
		case campaign.Estimated:
			if e.Run == 1 && e.Runs > 1 {
				p.Line("about %s: %s", InWords(e.Elapsed), progress.Count(e.Runs-1, "more run"))
			}
		case campaign.Caught:
			caught++
		case campaign.Comparing:
			p.At(e.Run-1, e.Runs, "sections compared: split, and left whole")
		case campaign.Isolating:
			p.At(e.Run-1, e.Runs, "places tried, in search of a pause by which a test of "+e.Package+" fails")
		case campaign.Replaying:
			if e.Run == 1 && !end.IsZero() && time.Now().Add(e.Elapsed-slack).After(end) {
				p.Line("the replays of %s may take %s more", progress.Count(e.Runs, "finding"), InWords(e.Elapsed))
			}
			p.At(e.Run-1, e.Runs, "replays of findings tried")
		case campaign.Measuring:
			long.Stop()
			long = time.AfterFunc(longRun, func() { p.Line("%s", longMeasured(e)) })
		case campaign.Measured:
			long.Stop()
			if verbose {
				p.Line("%s %s in %s without noise; a run may take %s", e.Package, e.Outcome, e.Elapsed.Round(time.Millisecond),
					e.Limit.Round(time.Second))
			}
		case campaign.Weakened:
			if verbose {
				p.Line("%s %s under noise, and not without: its strength is at most %d from now on", e.Package, e.Outcome,
					e.Strength)
			}
		// How each package went, step by step, is shown on request.
		case campaign.ExactDone:
			if verbose {
				p.Line("%s %s in %s under the happens-before engine", e.Package, e.Outcome, e.Elapsed.Round(time.Millisecond))
			}
		case campaign.PackageDone:
			at(e, ", last: "+e.Package)
			if verbose {
				printRun(p, e)
			}
		}
	}
}

// printRun prints how a package went in a run.
func printRun(p *progress.Reporter, e campaign.Event) {
	p.Line("run %d of %d, seed %d, strength %d: %s %s in %s", e.Run, e.Runs, e.Seed, e.Strength, e.Package, e.Outcome,
		e.Elapsed.Round(time.Millisecond))
	if e.Depth > 0 && e.Events > 0 {
		p.Line("%s", guarantee(e.Goroutines, e.Events, e.Depth))
	}
	if e.Held > 0 {
		p.Line("drfinder has held goroutines before a lock %s so far, and %.0f%% of these holds thrashed",
			progress.Count(int(e.Held), "time"), 100*float64(e.Thrashed)/float64(e.Held))
	}
}

// estimate names the runs, searches and replays behind the first run of a bounded campaign, and their longest time.
func estimate(e campaign.Event) string {
	further := ""
	if e.Further > 0 {
		further = fmt.Sprintf(", up to %d further ones while they confirm nothing", e.Further)
	}
	return fmt.Sprintf("at most about %s: %s%s, searches for why tests fail, and replays of findings", InWords(e.Elapsed),
		progress.Count(e.Runs-1, "more run"), further)
}

// slack is by how much an estimate may be missed before a line says so.
const slack = 5 * time.Second

// longRun is how long tests run without noise until somebody may wonder.
const longRun = time.Minute

// longMeasured returns the sentence about tests that take long without noise.
func longMeasured(e campaign.Event) string {
	s := fmt.Sprintf("the tests of %s have run for %s without noise, and ", e.Package, longRun)
	if e.Limit == 0 {
		return s + "have no time limit: -- -timeout=2m sets one"
	}
	return s + fmt.Sprintf("are ended after %s, as by go test: -- -timeout=2m ends tests that hang earlier", e.Limit)
}

// guarantee returns the promise of probabilistic concurrency testing for a package with n goroutines and k events.
func guarantee(n, k uint64, depth int) string {
	p := float64(n) * math.Pow(float64(k), float64(depth-1))
	return fmt.Sprintf("pct: n = %d goroutines, k = %d events, d = %d: a bug of that depth shows in a run with a "+
		"probability of at least 1/(n·k^(d-1)) = 1/%.3g, as far as goroutines go on at once", n, k, depth, p)
}

// reportTimeout reports once that tests get more time than the user set, with the reason: if verbose, or if the user
// has set a time.
func (s *Settings) reportTimeout(p *progress.Reporter, takes string) {
	if !s.Verbose && s.Tests.Timeout == 0 {
		return
	}
	watch := s.Progress
	s.Progress = func(e campaign.Event) {
		if e.Kind == campaign.RunStarted && e.Run == 1 && e.Limit > 0 {
			p.Line("%s time, so the tests have a timeout of %s, not of %s as under go test", takes, e.Limit,
				campaign.PlainTimeout(s.Tests.Timeout))
		}
		watch(e)
	}
}

// interleaved writes to w without a bar in the way.
type interleaved struct {
	p *progress.Reporter
	w io.Writer
}

func (i *interleaved) Write(b []byte) (int, error) {
	i.p.Clear()
	return i.w.Write(b)
}

// NotCompleted returns in a line which runs Interlock ended, and why.
func NotCompleted(p *campaign.PackageResult) string {
	f := p.FirstCut
	s := fmt.Sprintf("the tests of %s were not completed in %s: interlock ended them after %s; without "+
		"noise they took %s",
		p.Package, finding.OfRuns(p.NotCompleted, p.Runs), f.Elapsed.Round(time.Second/10), p.PlainTime.Round(time.Second/10))
	if p.NotCompleted == 0 {
		s = fmt.Sprintf("run %d of the tests of %s took more than %s, where without noise they took %s; it was completed %s",
			f.Run, p.Package, f.Elapsed.Round(time.Second/10), p.PlainTime.Round(time.Second/10), completedHow(p))
	}
	switch {
	case p.NotCompleted == 0:
	case len(p.LeftOut) > 0: // the run without noise has come no further than these
		s += fmt.Sprintf("; without noise they hang in %s, and may hang elsewhere too: leave out more of them with -- "+
			"-skip", strings.Join(p.LeftOut, ", "))
	default:
		s += "; this is not a test failure"
	}
	if f.Busy {
		s += "; the machine was busy with other work"
	}
	return s
}

// Skipped returns a line for each test of a package that ran in no monitored run, or in fewer.
func Skipped(p *campaign.PackageResult) (all []string) {
	for _, test := range p.Skipped {
		all = append(all, p.Package+": "+test)
	}
	for _, test := range p.LeftOut {
		all = append(all, p.Package+": "+test+": left out of monitored runs, since it hung")
	}
	for _, test := range p.Spared {
		all = append(all, p.Package+": "+test+": hung or failed under noise, so it ran alone in every fourth run, with less "+
			"noise")
	}
	return all
}

// completedHow returns how a run was made that Interlock had ended before.
func completedHow(p *campaign.PackageResult) string {
	if len(p.Spared) == 0 {
		return "with less noise"
	}
	return "without " + strings.Join(p.Spared, ", ") + ", which every fourth run tries alone, with less noise"
}

// Failures returns how the tests of each package failed: their own output does not show in which runs, nor whether the
// monitor has to do with it. noise says that failures under noise alone fail the build.
func (d *Done) Failures(noise bool) (all []report.Failure) {
	for _, v := range d.Vetted {
		f := report.Failure{Package: v.Package, Output: v.Text, Unbuilt: true, Fails: true}
		fault, isMachine := machinefault.Find(v.Text)
		switch {
		case isMachine:
			f.Text = fmt.Sprintf("the tests of %s could not be built as they stand: %s", v.Package, fault)
		case v.Unbuilt:
			f.Text = fmt.Sprintf("go test would not run the tests of %s, which do not build as they stand; only the "+
				"monitored build of them does", v.Package)
		default:
			f.Text = fmt.Sprintf("go test would not run the tests of %s, as go vet fails; -- -vet=off runs them without it",
				v.Package)
		}
		all = append(all, f)
	}
	// Of a package that failed without noise and under noise, each is said in a sentence of its own.
	found := len(d.Result.Findings) > 0
	for i := range d.Result.Packages {
		p := &d.Result.Packages[i]
		if f := p.ExactFailure; f != nil {
			all = append(all, report.Failure{Package: p.Package, Tests: f.Tests, Text: p.SeenExactly, Output: printed(f),
				Fails: noise, Hangs: f.Outcome == campaign.Hung})
		}
		if p.Failures > 0 && p.UnderNoise > 0 {
			all = append(all, report.Failure{Package: p.Package, Tests: p.Tests, Text: FailureOf(p, found),
				Output: printed(p.UnderNoiseFirst), Fails: noise, Hangs: p.UnderNoiseFirst.Outcome == campaign.Hung})
		}
		if p = withoutNoise(p); p.Fails() {
			first := cmp.Or(p.PlainFailure, p.First)
			all = append(all, report.Failure{Package: p.Package, Tests: first.Tests, Text: FailureOf(p, found),
				Output: printed(first), Fails: true, Hangs: first.Outcome == campaign.Hung})
		}
	}
	return all
}

// printed returns the output of failed tests. Of a dump of all goroutines, which ends tests that hang, it returns the
// reason alone.
func printed(f *campaign.Failure) string {
	if f.Outcome != campaign.Hung && f.Outcome != campaign.TimedOut {
		return f.Output
	}
	before, _, _ := strings.Cut(f.Output, "\n\ngoroutine ")
	return before
}

// withoutNoise returns p without the runs that failed under noise alone.
func withoutNoise(p *campaign.PackageResult) *campaign.PackageResult {
	if p.UnderNoise == 0 {
		return p
	}
	q := *p
	q.Runs, q.Failures, q.UnderNoise = p.Runs-p.UnderNoise, p.Failures-p.UnderNoise, 0
	q.First = cmp.Or(p.Alike, p.First)
	return &q
}

// testsOf returns the tests of a package that failed, by name where some are named and not too many, and the pronoun
// for them.
func testsOf(pkg string, named []string) (what, they string) {
	switch n := len(named); {
	case n == 0 || n > mostNamed:
		return "the tests of " + pkg, "they"
	case n == 1:
		return named[0] + " of " + pkg, "it"
	}
	return strings.Join(named, ", ") + " of " + pkg, "they"
}

// mostNamed is how many tests a sentence names.
const mostNamed = 8

// waitsOf returns where tests that hang wait, in brackets; "" for others.
func waitsOf(f *campaign.Failure) string {
	if len(f.Waits) == 0 {
		return ""
	}
	return fmt.Sprintf(" (waiting %s)", strings.Join(f.Waits, ", "))
}

// FailureOf returns in a line how the tests of a package failed.
// With findings, one of them may explain a failure under noise.
func FailureOf(p *campaign.PackageResult, findings bool) string {
	// They passed in all monitored runs.
	if p.Failures == 0 {
		what, they := testsOf(p.Package, p.PlainFailure.Tests)
		s := fmt.Sprintf("%s %s without the monitor%s", what, p.PlainFailure.Outcome, waitsOf(p.PlainFailure))
		left := ""
		if len(p.LeftOut) > 0 {
			left, they = ", which left out "+strings.Join(p.LeftOut, ", ")+",", "the other tests"
		}
		switch {
		case p.NoneRan && left != "":
			s += "; the monitored runs left out " + strings.Join(p.LeftOut, ", ") + ", and there is no other test"
		case p.Runs > p.NotCompleted:
			s += fmt.Sprintf("; in %d monitored runs%s %s passed", p.Runs-p.NotCompleted, left, they)
		}
		return s
	}
	// They fail without noise as well: nothing is special about the monitor.
	if p.UnderNoise == 0 {
		what, they := testsOf(p.Package, p.First.Tests)
		s := fmt.Sprintf("%s %s in %s, first in run %d with seed %d%s", what, p.First.Outcome,
			finding.OfRuns(p.Failures, p.Runs), p.First.Run, p.First.Seed, waitsOf(p.First))
		if p.Plain != "" { // which may have timed out by another test
			s += fmt.Sprintf("; without noise %s %s too", they, p.First.Outcome)
		}
		return s
	}
	// They fail under noise alone, by name where the output shows names.
	what, they := testsOf(p.Package, p.Tests)
	why, f := "they depend on timing, or have a bug", p.UnderNoiseFirst
	if f.Outcome == campaign.Panicked && !slices.Equal(f.Tests, p.Tests) {
		what, they = testsOf(p.Package, nil) // another test, which was not named, may have panicked than failed in later runs
	}
	if they == "it" {
		why = "it depends on timing, or has a bug"
	}
	why += " that the monitor cannot name"
	if fault, next, ok := machinefault.FindIn(f.Output); ok {
		return fmt.Sprintf("%s %s in %s, first in run %d with seed %d, and without noise they did not; but the "+
			"machine may be the reason and not the noise, as they printed %q: %s", what, f.Outcome,
			finding.OfRuns(p.UnderNoise, p.Runs), f.Run, f.Seed, fault, next)
	}
	if findings { // they are printed below
		why = "a finding may explain it, or a dependence on timing"
	}
	when := "only under noise"
	if e := p.ExactFailure; e != nil && slices.Equal(e.Tests, p.Tests) { // a line of its own says so
		when = "under noise as well"
	}
	s := fmt.Sprintf("%s %s %s: %s; in %s, first in run %d with seed %d and strength %d",
		what, f.Outcome, when, why, finding.OfRuns(p.UnderNoise, p.Runs), f.Run, f.Seed, f.Strength)
	if s += waitsOf(f); f.Outcome != campaign.Hung && f.Said != "" {
		s += fmt.Sprintf(" (%s)", f.Said)
	}
	switch {
	case len(p.Spared) > 0 && f.Run < p.Runs:
		s += "; later runs were made " + completedHow(p)
	case p.Strength > 0 && f.Run < p.Runs:
		s += fmt.Sprintf("; later runs had a strength of at most %d", p.Strength)
	}
	for i := range p.Unexplained {
		s += "; " + p.Unexplained[i].String()
	}
	return s
}
