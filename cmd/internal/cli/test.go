package cli

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/cmd/internal/planner"
	"github.com/interlock-go/interlock/cmd/internal/testflags"
	"github.com/interlock-go/interlock/cmd/internal/testrun"
	"github.com/interlock-go/interlock/dynamic/campaign"
	"github.com/interlock-go/interlock/dynamic/campaign/arm"
	"github.com/interlock-go/interlock/dynamic/campaign/record"
	"github.com/interlock-go/interlock/dynamic/gocmd"
	"github.com/interlock-go/interlock/dynamic/hb"
)

var testCommand = command{
	name: "test", args: "[flags] [packages] [-- go test flags]",
	short: "run the tests under the monitor, and report bugs caught in the act",
	long: `Test builds the packages' tests with a monitor put before the accesses that "interlock plan" shows,
and runs them many times, each run with another seed. The monitor stops a goroutine for a moment
right before an access. If another goroutine makes a conflicting access meanwhile, the race has
happened: the finding is confirmed, and comes with a command that replays its run.

The tests' own output goes to standard output as go test prints it (to standard error if -format
is not text): the first run whole, then each package's first failure. Flags after -- go to go test,
whose go vet checks are made too. Your files are not touched; the instrumented copies live in a
temporary folder.

Before these runs each package's tests run once under the happens-before engine, which instruments the
standard library and dependencies too, and finds each pair of accesses that nothing orders in that run,
however far apart they are. Where it cannot run, a line says so; -engine=watch skips it.

By default there are ten runs, or fewer: all of them and the replays of findings take at most about three
times as long as the run under that engine, and half a minute more. A line says how long the runs are
about to take, and another one, at the end, what further ones would take. Where runs are short and have
confirmed nothing, up to 60 are made, in about five seconds and one of processor time. Time that other
work of the machine takes does not count. With -runs, -stop-when, -budget or -record, all runs that these
ask for are made.

The delays that the monitor makes are called noise: weak in most runs, strong in some. A test that
fails only under noise depends on timing, or the noise has brought out a bug that the monitor cannot
name. Such failures are reported, and fail the build only with -fail-on=confirmed,noise. Later runs of
the package have less noise, or leave the test out if it reads the clock. To leave a test out of all
runs, add -- -skip TestName.

The first run is without noise: a test that fails in it has failed, whatever the monitored runs do.
Interlock ends a monitored run that takes several times as long, and prints the goroutines that wait.
This is not a test failure. The run is repeated without the tests that hung, or, if no test would be
left, with less noise. Every fourth run tries the tests that hung alone, with less noise. A run that
still does not end is reported as not completed.`,
	examples: [][2]string{
		{"interlock test -engine=hb ./...", "all tests once: what go test -race would see"},
		{"interlock test ./...", "all tests, up to 10 runs"},
		{"interlock test -runs 20 ./...", "all tests, 20 runs, however long they take: for the night"},
		{"interlock test -runs 100 ./cache -- -run TestEvict -short", "one test, 100 runs"},
		{"interlock test -seed 42 -runs 1 -strength 150 ./cache", "repeat one run"},
		{"interlock test -deps golang.org/x/sync ./...", "with a dependency monitored as well"},
		{"interlock test -o sarif:interlock.sarif -o jsonl:interlock.jsonl ./...", "with reports for programs"},
	},
	tests:   true,
	fails:   confirmedFails + testsFail,
	options: func() runner { return new(testOptions) },
}

type testOptions struct {
	reportFlags
	acceptFlags
	campaignFlags
	planFlags
	rate      string // set.Engine.Sampling is as rate and sample have it, once checked
	sample    string
	suspected bool
	record    string // file that the campaign is kept in, or empty
	failFast  bool
	confirm   string // file of the findings that are to be confirmed, or empty
}

const defaultReplays = 5

func (o *testOptions) declare(fs *flag.FlagSet) {
	o.reportFlags.declare(fs)
	o.acceptFlags.declare(fs, finding.Confirmed)
	o.campaignFlags.declare(fs)
	fs.StringVar(&o.engine, "engine", engineAuto,
		"which `engine` finds races: watch catches them in the act; hb (linux/amd64) instruments\n"+
			"all packages, the standard library included, and finds each pair of accesses that\n"+
			"nothing orders, in 1 run without noise by default, or in 10 with the noise of a\n"+
			"-schedule; race does so with the race detector of the Go distribution; auto is watch\n"+
			"after one run of hb, where hb works; with -only or -hold it is watch alone")
	refuse(fs, "engine", func() error {
		if !slices.Contains(engines, o.engine) {
			return errors.New("want auto, watch, hb or race")
		}
		return nil
	})
	fs.IntVar(&o.set.Engine.Memory, "hb-memory", 0, "let hb use about this many `megabytes` to remember accesses "+
		"(default 4096);\n"+
		"accesses that it has to forget are counted and reported")
	within(fs, "hb-memory", &o.set.Engine.Memory, 0, maxHBMemory, "megabytes")
	o.declareSampling(fs)
	fs.BoolVar(&o.set.Engine.Predict, "predict", false,
		"predict races that another order of the run of hb would show, and drive later runs\n"+
			"to them; that run takes longer, and up to 128 MB of disk for a package")
	o.declareSections(fs, defaultSections)
	o.declareDeps(fs)
	o.declareWhole(fs, wholeSkips)
	fs.StringVar(&o.only, "only", "", "make noise at these `places` only, file:line:column[@window][,…] relative to "+
		"the\n"+
		"module's root (to the folder of go.work, if one is in force) or to this folder; with\n"+
		"a window such as @20ms, a goroutine is held there at once; replay commands use it")
	fs.StringVar(&o.confirm, "confirm", "", "make noise at the places of the findings in this `file` of "+
		"JSON Lines only, and say\n"+
		"of each whether it was confirmed; \"interlock report -o jsonl:file\" writes what production\n"+
		"has seen")
	fs.StringVar(&o.hold, "hold", "",
		"hold a goroutine between two locks acquired at these `places`, file:line:column[,…], until\n"+
			"another goroutine waits for the first; with a length such as @10ms, it is held before the\n"+
			"lock, or the access, at the place for so long (@10ms/2: the second time that it comes\n"+
			"there), and there is no other noise; replay commands use it")
	fs.IntVar(&o.set.Replay.Tries, "replays", defaultReplays,
		"try the replay command of each finding `n` times, in at most half the time of the runs")
	within(fs, "replays", &o.set.Replay.Tries, 0, math.MaxInt, "a number")
	// The end of the campaign, and its record.
	fs.StringVar(&o.record, "record", "", "keep all runs in this `file`, and continue those that it has of the same "+
		"build and flags:\n"+
		"completed runs are not repeated, and further ones begin with what is known;\n"+
		"\"interlock campaign\" shows and merges such files")
	fs.Float64Var(&o.set.Stop.Rate, "stop-when", 0, "make no more runs once the last ones have shown fewer new "+
		"findings a run than\nthis `rate`: 0.1 asks for 10 runs in a row without one; -runs is then 100 by default")
	refuse(fs, "stop-when", func() error {
		if o.set.Stop.Rate < 0 || o.set.Stop.Rate != 0 && o.set.Stop.Rate < leastRate {
			return fmt.Errorf("want new findings a run, at least %v", leastRate)
		}
		return nil
	})
	fs.BoolVar(&o.failFast, "failfast", false, "make no more runs after the first one that fails the build")
	fs.BoolVar(&o.suspected, "suspected", false, "report suspected findings too, with a note if no run showed them")
}

// declareSampling declares the flags that say which accesses the happens-before engine records.
func (o *testOptions) declareSampling(fs *flag.FlagSet) {
	fs.StringVar(&o.rate, "rate", wholeRate, "record only this `percent` of the accesses with -engine=hb, which "+
		"costs less;\n"+
		"a race is found if the earlier of its two accesses was recorded")
	fs.StringVar(&o.sample, "sample", "", "record fewer accesses with -engine=hb, by these `rules`, with commas between: "+
		"sos leaves\n"+
		"out those to memory that has not been written since a second goroutine accessed it;\n"+
		"lis those in loops, the more the longer a loop goes on; burst those in most calls of a\n"+
		"function that is called often")
	sampling := func() (err error) {
		o.set.Engine.Sampling, err = hb.ParseSampling(o.rate, o.sample)
		return err
	}
	refuse(fs, "rate", sampling)
	refuse(fs, "sample", sampling)
}

func (o *testOptions) fit() error {
	if o.only != "" && o.schedule != autoSchedule {
		return misfit("schedule", "and -only both choose places: use one of them")
	}
	if o.confirm != "" && (o.only != "" || o.hold != "" || o.schedule != autoSchedule) {
		return misfit("confirm", "chooses the places: leave -only, -hold and -schedule out")
	}
	return cmp.Or(o.fitEngine(), o.campaignFlags.fit())
}

// leastRate is that of one new finding in as many runs as nobody makes.
const leastRate = 1e-6

// wholeRate is the rate of an engine that does not sample.
const wholeRate = "100"

// maxHBMemory is a terabyte: more than the addresses that the engine reserves.
const maxHBMemory = 1 << 20

// The engines that find races.
const (
	engineAuto  = "auto"
	engineWatch = "watch"
	engineHB    = "hb"
	engineRace  = "race"
)

var engines = []string{engineAuto, engineWatch, engineHB, engineRace}

// fitEngine finds flags that mean nothing to the engine.
func (o *testOptions) fitEngine() error {
	sampled := "sample"
	if o.sample == "" {
		sampled = "rate"
	}
	switch {
	case o.set.Engine.Sampling == hb.Sampling{}:
	case o.engine != engineHB:
		return misfit(sampled, "is for -engine=%s alone: add that, or leave it out", engineHB)
	case o.set.Engine.Predict:
		return misfit("predict", "needs all accesses: leave -%s out", sampled)
	}
	switch o.engine {
	case engineAuto:
		return nil
	case engineWatch, engineRace:
		if o.set.Engine.Memory != 0 {
			return misfit("hb-memory", "means nothing to -engine=%s: leave it out", o.engine)
		}
		if o.set.Engine.Predict {
			return misfit("predict", "means nothing to -engine=%s, which leaves no trace: leave it out", o.engine)
		}
		if o.engine == engineWatch {
			return nil
		}
	} // and to hb, most flags that are about noise
	// All that is about noise and sections.
	for _, flag := range []struct {
		name string
		set  bool
	}{
		{"budget", o.set.Noise.Budget != 0}, {"prob", o.set.Noise.Prob != 0},
		{"strength", o.set.Noise.Strength != 0 && o.schedule == autoSchedule},
		{"only", o.only != ""}, {"hold", o.hold != ""}, {"confirm", o.confirm != ""}, {"deps", len(o.deps) > 0},
		{"whole", o.whole},
		{"sections", o.sections != defaultSections}, {"replays", o.set.Replay.Tries != defaultReplays},
	} {
		if flag.set {
			return misfit(flag.name, "means nothing to -engine=%s, which instruments all, makes no noise but that of "+
				"-schedule, watches no sections and tries no replays: leave it out", o.engine)
		}
	}
	return nil
}

func (o *testOptions) run(c *call) int {
	isSeeded := o.set.Seed != 0
	isExact := o.engine == engineHB || o.engine == engineRace
	switch {
	case o.runsSet:
	case o.set.Stop.Rate > 0:
		o.set.Runs, o.runsSet = defaultMostRuns, true
	case isExact && o.schedule == autoSchedule: // runs without noise are alike
		o.set.Runs, o.runsSet = 1, true
	}
	// A number of runs, a share of the time for noise and a record each ask for all of them.
	o.set.Bounded = !o.runsSet && o.set.Noise.Budget == 0 && o.record == ""
	o.choose(c)
	if err := cmp.Or(o.probe(), o.acceptFlags.check(c)); err != nil {
		return c.usageOf(err)
	}
	flags, code := c.testFlagsOf()
	if code != exitClean {
		return code
	}
	var known []*finding.Finding
	if o.confirm != "" {
		var err error
		if known, o.only, err = toConfirm(c, o.confirm); err != nil {
			return c.failed(err)
		}
		if len(c.packages) == 0 {
			c.packages = packagesWith(known)
		}
	}
	err := o.openRecord(c, flags, isSeeded)
	if err != nil {
		return c.usage("-record %v", err)
	}
	// Coverage comes first, from the plain program.
	out := o.testOutput(c)
	if len(flags.Cover) > 0 {
		c.progress.Line("coverage is measured in a run of its own, without the monitor, whose calls would count too")
		if err := c.cover(flags, out); err != nil {
			return c.failed(err)
		}
	}
	p, err := o.planner(c)
	if err != nil {
		return c.failed(err)
	}
	p.KeepGuarded = o.only != "" || o.choosesPlaces()
	// Then plan, build and run.
	o.set.Replay.Flags = o.replayFlags()
	var fails failing
	if o.failFast {
		fails = func(pl *planner.Planned, r *campaign.Result) bool { return o.failsAlready(c, pl, r) }
	}
	d, err := o.carryOut(c, p, flags, fails, out)
	if d != nil {
		defer c.closeLater(d)
	}
	c.progress.Clear()
	if err != nil {
		return c.failed(err)
	}
	for _, v := range d.Vetted {
		why := "vet failed"
		if v.Unbuilt {
			why = "build failed"
		}
		fmt.Fprintf(out, "%sFAIL\t%s [%s]\n", v.Text, v.Package, why)
	}
	r := c.newReport("test", d.Planned.Module.Root, d.Planned.Module.Path)
	shown := &testrun.Results{Done: d, Suspected: o.suspected, PlacesChosen: o.only != "", Runs: d.Asked,
		NoiseFails: o.failOn.noise}
	c.warn(shown.Fill(c.ctx, r)...)
	printConfirmed(c, known, shown)
	if err := o.apply(c, r, d.Planned.Vet); err != nil {
		return c.failed(err)
	}
	return c.uncompiled(d.Planned.Uncompiled(), c.finish(r, o.reportFlags, &o.acceptFlags, o.testsFail(d)))
}

// defaultMostRuns is how many runs a campaign makes at most that ends by the rate of new findings.
const defaultMostRuns = 100

// openRecord opens the file of -record, and takes over the seed of a campaign that has runs left unless the user
// has chosen one: the plan may depend on it.
func (o *testOptions) openRecord(c *call, flags testflags.Flags, isSeeded bool) (err error) {
	if o.record == "" {
		return nil
	}
	kept := &o.set.Keep
	if kept.Record, err = record.Open(o.record); err != nil {
		return err
	}
	c.closers = append(c.closers, kept.Record)
	kept.Settings = fmt.Sprintf("%s engine=%s schedule=%s depth=%d budget=%d strength=%d prob=%d sections=%s deps=%q "+
		"whole=%v only=%s hold=%s predict=%v rate=%s sample=%s hb-memory=%d replays=%d build=%q tests=%q timeout=%v",
		version(), o.engine, o.schedule, o.depth, o.set.Noise.Budget, o.set.Noise.Strength, o.set.Noise.Prob, o.sections,
		o.deps, o.whole, o.only, o.hold, o.set.Engine.Predict, o.rate, o.sample, o.set.Engine.Memory, o.set.Replay.Tries,
		append(c.buildFlags(), flags.Build...), flags.Binary, flags.Timeout)
	seed, err := kept.Record.Unfinished(kept.Settings)
	if seed != 0 && !isSeeded {
		o.set.Seed = seed
	}
	return err
}

// failsAlready reports whether the findings of a campaign so far fail the build.
func (o *testOptions) failsAlready(c *call, pl *planner.Planned, r *campaign.Result) bool {
	rep := c.newReport("test", pl.Module.Root, pl.Module.Path)
	joined, err := testrun.Join(c.ctx, pl, r)
	if err != nil {
		return false // the command says so once the campaign is over
	}
	for _, f := range joined {
		if f.Evidence != nil {
			rep.Findings = append(rep.Findings, f)
		}
	}
	if err := o.apply(c, rep, pl.Vet); err != nil {
		return false // which ends the command once the campaign is over
	}
	return o.failing(rep.Findings) > 0 || o.testsFail(&testrun.Done{Built: new(testrun.Built), Result: r})
}

// testsFail reports whether failures of the tests fail the build.
func (o *acceptFlags) testsFail(d *testrun.Done) bool {
	return d.FailedWithoutNoise() || o.failOn.noise && d.Failed()
}

// testOutput is where the tests' own output goes: not among a report that
// programs read.
func (o *testOptions) testOutput(c *call) io.Writer {
	if o.format == "text" {
		return c.stdout
	}
	return c.stderr
}

// cover has go test measure coverage. Tests that fail there fail in the
// campaign too, which reports them.
func (c *call) cover(flags testflags.Flags, out io.Writer) error {
	still, err := c.still()
	if err != nil {
		return err
	}
	args := slices.Concat([]string{"test"}, c.buildFlags(), flags.Build, flags.Cover, c.packages, flags.GoTest())
	cmd := exec.CommandContext(c.ctx, "go", args...)
	cmd.Env = still.Env(os.Environ())
	if s, ok := out.(*sink); ok { // a test's child gets the file itself, so that nobody waits for it to close a pipe
		out = s.w
	}
	cmd.Stdout, cmd.Stderr = out, c.stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	var exit *exec.ExitError
	if err := cmd.Run(); c.ctx.Err() != nil {
		return c.ctx.Err()
	} else if err != nil && !errors.As(err, &exit) {
		return fmt.Errorf("measuring coverage: %w", err)
	}
	return nil
}

// testFlagsOf returns the flags of go test, those of GOFLAGS included. It reports the
// error behind an exit code other than exitClean.
func (c *call) testFlagsOf() (testflags.Flags, int) {
	still, err := c.still()
	if err != nil {
		return testflags.Flags{}, c.failed(err)
	}
	flags, err := testflags.Split(still.Flags, c.testFlags)
	if err != nil {
		return flags, c.usage("%v", err)
	}
	return flags, exitClean
}

// failing reports whether the findings of a campaign so far end it; nil never does.
type failing func(*planner.Planned, *campaign.Result) bool

// carryOut plans, builds and runs; the tests' own output goes to out. The result must be
// closed, also if there is an error.
func (o *campaignFlags) carryOut(
	c *call, p planner.Options, flags testflags.Flags, fails failing, out io.Writer,
) (*testrun.Done, error) {
	p.Tests, p.Turn = true, o.set.Seed
	p.BuildFlags = append(p.BuildFlags, flags.Build...)
	pl, err := c.makePlan(p)
	if err != nil {
		return nil, err
	}
	for _, s := range pl.Stale {
		c.progress.Line("%s", s)
	}
	s := o.set
	s.Tests.Flags, s.Tests.Timeout = flags.Binary, flags.Timeout
	s.Replay.OnlyFlag, s.Replay.HoldFlag = "-only", "-hold"
	if fails != nil {
		s.Stop.Fails = func(r *campaign.Result) bool { return fails(pl, r) }
	}
	if err := o.noisePlaces.in(pl, &s.Noise); err != nil {
		return nil, err
	}
	if s.Engine.Race = o.engine == engineRace; s.Engine.Race || o.engine == engineHB {
		return testrun.Exact(c.ctx, c.progress, pl, s, out)
	}
	s.Vet, s.First = flags.Vet, o.engine != engineWatch && o.only == "" && o.hold == ""
	return testrun.Run(c.ctx, c.progress, pl, s, out)
}

// in sets where noise is made, by the plan.
func (o *noisePlaces) in(pl *planner.Planned, noise *campaign.Noise) (err error) {
	// The places of a schedule mean the same as those of -only.
	place := func(place string) ([]uint32, error) { return sitesAt(pl, place) }
	if noise.Where, err = arm.ParseHeuristic(pl.Plan, o.schedule, place); err != nil {
		return misfit("schedule", "%s: %v; `interlock plan -sites` lists variables and places", o.schedule, err)
	}
	if o.depth != 0 {
		noise.Where.Functions = o.depth
	}
	if o.only != "" {
		if noise.Only, noise.Windows, err = arm.WindowsAt(o.only, place); err != nil {
			return gocmd.Refuse("-only: "+err.Error(), "`interlock plan -sites` lists the places")
		}
	}
	if o.hold == "" {
		return nil
	}
	locks := func(place string) ([]uint64, error) { return locksAt(pl, place) }
	between, pauses, err := arm.SplitPauses(o.hold, locks, place)
	if err == nil && between != "" {
		noise.Hold, err = locks(between)
	}
	if noise.Pauses = pauses; err != nil {
		return gocmd.Refuse("-hold: "+err.Error(), "name where locks are acquired, as findings do")
	}
	return nil
}

// sitesAt returns the sites at places, with commas between: relative to the root,
// as plan and replay commands have them, or to this folder, as findings show them.
func sitesAt(pl *planner.Planned, places string) ([]uint32, error) {
	var all []uint32
	for place := range strings.SplitSeq(places, ",") {
		ids, err := arm.SitesAt(pl.Plan, place)
		if err != nil {
			ids, err = arm.SitesAt(pl.Plan, rebased(place, pl.Module.Root))
		}
		if err != nil {
			return nil, fmt.Errorf("no monitored access at %q", place)
		}
		all = append(all, ids...)
	}
	return all, nil
}

// locksAt is sitesAt for uses of locks.
func locksAt(pl *planner.Planned, places string) ([]uint64, error) {
	var all []uint64
	for place := range strings.SplitSeq(places, ",") {
		ids, err := arm.LocksAt(pl.Module.Packages, place)
		if err != nil {
			ids, err = arm.LocksAt(pl.Module.Packages, rebased(place, pl.Module.Root))
		}
		if err != nil {
			return nil, fmt.Errorf("no lock is acquired at %q", place)
		}
		all = append(all, ids...)
	}
	return all, nil
}

// rebased returns a place named from this folder as one named from root.
func rebased(place, root string) string {
	file, position, _ := strings.Cut(place, ":")
	abs, err := filepath.Abs(filepath.FromSlash(file))
	if err != nil {
		return place
	}
	rel, err := filepath.Rel(root, abs)
	if err != nil {
		return place
	}
	return filepath.ToSlash(rel) + ":" + position
}
