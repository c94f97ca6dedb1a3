package cli

import (
	"errors"
	"flag"
	"fmt"
	"io"
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
	"github.com/interlock-go/interlock/dynamic/gocmd"
	"github.com/interlock-go/interlock/dynamic/hb"
)

var testCommand = command{
	name: "test", args: "[flags] [packages] [-- go test flags]",
	short: "run the tests under the monitor, and report bugs caught in the act",
	long: `Test builds the packages' tests with a monitor put before the accesses that "interlock plan" shows,
and runs them many times, each run with another seed. The monitor holds a goroutine for a moment
right at an access, and reports when another goroutine makes a conflicting one. Such a
finding is confirmed: it has happened. Each comes with a command that replays its run.

The tests' own output goes to standard output as go test prints it (to standard error if -format
is not text): the first run whole, then each package's first failure. Flags after -- are those of
go test, whose checks by go vet are made as well. Your files are not touched; the instrumented copies
live in a temporary folder.

Before these runs each package's tests run once under the happens-before engine, which instruments the
standard library and dependencies too, and finds each pair of accesses that nothing orders in that run,
however far apart they are. Where it cannot run, a line says so; -engine=watch skips it.

Noise is gentle in most runs and strong in some. Tests may fail under it that pass without: they
depend on timing, or the noise has brought out a bug that the monitor does not see. They are reported,
and fail the build only with -fail-on=confirmed,noise. The package has less noise from then on; a test
that reads the clock is left out of the other runs instead. -- -skip TestName leaves it out of all.

The first run is without noise: what fails in it counts as failed, whatever the
monitored runs do. A monitored run that takes several times as long is ended, with the goroutines that
wait. That is not a failure: the run is repeated without the tests that hung, which every fourth run tries
alone and with less noise, or with less noise where no test would be left. If that does not help, the run is
reported as not completed.`,
	examples: [][2]string{
		{"interlock test ./...", "all tests, 10 runs"},
		{"interlock test -runs 100 ./cache -- -run TestEvict -short", "one test, 100 runs"},
		{"interlock test -seed 42 -runs 1 -strength 150 ./cache", "a run again"},
		{"interlock test -engine=hb ./...", "each pair of accesses that nothing orders, and nothing else"},
		{"interlock test -deps golang.org/x/sync ./...", "with a dependency monitored as well"},
		{"interlock test -o sarif:interlock.sarif -o jsonl:interlock.jsonl ./...", "with reports for programs"},
	},
	tests:   true,
	options: func() runner { return new(testOptions) },
}

type testOptions struct {
	reportFlags
	acceptFlags
	campaignFlags
	planFlags
	engine    string
	memory    int // megabytes
	rate      string
	sample    string
	sampling  hb.Sampling // as rate and sample have it, once checked
	predict   bool
	only      string
	hold      string
	replays   int
	suspected bool
}

const defaultReplays = 5

func (o *testOptions) declare(fs *flag.FlagSet) {
	o.reportFlags.declare(fs)
	o.acceptFlags.declare(fs, finding.Confirmed)
	o.campaignFlags.declare(fs)
	fs.StringVar(&o.engine, "engine", engineAuto,
		"how races are found: `watch` catches them in the act; hb instruments all\n"+
			"packages, the standard library included, and finds each pair of accesses\n"+
			"that nothing orders, in 1 run by default (linux/amd64); auto begins with\n"+
			"one run of hb, where that works, except with -only and -hold")
	fs.IntVar(&o.memory, "hb-memory", 0, "let hb take about so many `megabytes` for what it remembers of accesses "+
		"(default 4096);\n"+
		"what it has to forget is counted and reported")
	o.declareSampling(fs)
	fs.BoolVar(&o.predict, "predict", false,
		"predict races that another order of the run of hb would show, and drive later runs\n"+
			"to them; that run takes longer, and up to 128 MB of disk for a package")
	o.declareSections(fs, defaultSections)
	o.declareDeps(fs)
	o.declareWhole(fs, wholeSkips)
	fs.StringVar(&o.only, "only", "", "make noise at these `places` only, file:line:column[@window][,…] relative to "+
		"the\n"+
		"module's root (to the folder of go.work, if one is in force) or to this folder: by a\n"+
		"window such as @20ms a goroutine is held there at once; replay commands use it")
	fs.StringVar(&o.hold, "hold", "",
		"hold a goroutine between two locks acquired at these `places`, file:line:column[,…], until\n"+
			"another goroutine waits for the first; replay commands of deadlocks use it")
	fs.IntVar(&o.replays, "replays", defaultReplays,
		"try the replay command of each finding `n` times, in at most half the time of the runs")
	fs.BoolVar(&o.suspected, "suspected", false, "report suspected findings too, with a note if no run showed them")
}

// declareSampling declares the flags that say which accesses the happens-before engine records.
func (o *testOptions) declareSampling(fs *flag.FlagSet) {
	fs.StringVar(&o.rate, "rate", wholeRate, "record so many `percent` of the accesses with -engine=hb, for a "+
		"lower cost;\n"+
		"a race is found where the earlier of its two accesses is recorded")
	fs.StringVar(&o.sample, "sample", "", "leave accesses out with -engine=hb, by these `rules`, with commas between: "+
		"sos, of memory\n"+
		"that nobody has written since a second goroutine accessed it; lis, in loops, the more\n"+
		"the more often they have gone round; burst, in functions that are often entered, for\n"+
		"most entries")
}

func (o *testOptions) check() (err error) {
	o.sampling, err = hb.ParseSampling(o.rate, o.sample)
	switch {
	case err != nil:
		return err
	case o.memory < 0 || o.memory > maxHBMemory:
		return fmt.Errorf("-hb-memory %d: want megabytes, at most %d, or 0 for the default", o.memory, maxHBMemory)
	case o.replays < 0:
		return fmt.Errorf("-replays %d: want a number, 0 for none", o.replays)
	case o.only != "" && o.schedule != autoSchedule:
		return errOnlyAndSchedule
	}
	return errors.Join(o.checkEngine(), o.campaignFlags.check(), o.out.Probe())
}

// wholeRate is the rate of an engine that does not sample.
const wholeRate = "100"

// maxHBMemory is a terabyte: more than the addresses that the engine reserves.
const maxHBMemory = 1 << 20

// The engines that find races.
const (
	engineAuto  = "auto"
	engineWatch = "watch"
	engineHB    = "hb"
)

// checkEngine finds flags that mean nothing to the engine, and chooses how many runs it makes.
func (o *testOptions) checkEngine() error {
	switch {
	case o.sampling == hb.Sampling{}:
	case o.engine != engineHB:
		return fmt.Errorf("-rate and -sample are for -engine=%s alone: add that, or leave them out", engineHB)
	case o.predict:
		return errors.New("-predict needs all accesses: leave -rate and -sample out")
	}
	switch o.engine {
	case engineAuto:
		return nil
	case engineWatch:
		if o.memory != 0 {
			return fmt.Errorf("-hb-memory means nothing to -engine=%s: leave it out", engineWatch)
		}
		if o.predict {
			return fmt.Errorf("-predict means nothing to -engine=%s, which leaves no trace: leave it out", engineWatch)
		}
		return nil
	case engineHB: // most flags are about noise
	default:
		return fmt.Errorf("-engine %s: want %s, %s or %s", o.engine, engineAuto, engineWatch, engineHB)
	}
	// All that is about noise and sections.
	for _, flag := range []struct {
		name string
		set  bool
	}{
		{"budget", o.budget != 0}, {"prob", o.prob != 0}, {"schedule", o.schedule != autoSchedule},
		{"strength", o.strength != 0},
		{"only", o.only != ""}, {"hold", o.hold != ""}, {"deps", len(o.deps) > 0}, {"whole", o.whole},
		{"sections", o.sections != defaultSections}, {"replays", o.replays != defaultReplays},
	} {
		if flag.set {
			return fmt.Errorf("-%s means nothing to -engine=%s, which instruments all, makes no noise, watches no sections "+
				"and tries no replays: leave it out", flag.name, engineHB)
		}
	}
	if !o.runsSet {
		o.runs, o.runsSet = 1, true
	}
	return nil
}

func (o *testOptions) run(c *call) int {
	if err := errors.Join(o.check(), o.acceptFlags.check(c)); err != nil {
		return c.usage("%v", err)
	}
	flags, code := c.testFlagsOf()
	if code != exitClean {
		return code
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
	m := monitored{
		campaignFlags: o.campaignFlags, flags: flags, engine: o.engine, memory: o.memory,
		sampling: o.sampling, predict: o.predict,
		only: o.only, hold: o.hold, replays: o.replays, replayFlags: o.replayFlags(),
	}
	d, err := m.run(c, p, out)
	if d != nil {
		defer c.closeLater(d)
	}
	c.progress.Clear()
	if err != nil {
		return c.failed(err)
	}
	for _, v := range d.Vetted {
		fmt.Fprintf(out, "%sFAIL\t%s [vet failed]\n", v.Text, v.Package)
	}
	r := c.newReport("test", d.Planned.Module.Root)
	shown := &testrun.Results{Done: d, Suspected: o.suspected, PlacesChosen: o.only != "", Runs: o.runs}
	c.warn(shown.Fill(r)...)
	if err := o.apply(c, r, d.Planned.Vet); err != nil {
		return c.failed(err)
	}
	return c.uncompiled(d.Planned.Uncompiled(), c.finish(r, o.reportFlags, &o.acceptFlags, o.testsFail(d)))
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
	if s, ok := out.(*sink); ok { // a file is handed on as it is: what a test leaves running is not waited for
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

// monitored is a campaign as a command line asks for it.
type monitored struct {
	campaignFlags
	flags       testflags.Flags
	engine      string // "" is that of the monitor alone
	memory      int    // of the happens-before engine, in megabytes
	sampling    hb.Sampling
	predict     bool
	only        string   // places, with commas between
	hold        string   // the same
	replays     int      // of each finding
	replayFlags []string // that a replay needs to have the same plan
}

// testFlagsOf returns the flags of go test, those of GOFLAGS included. With an exit
// code other than exitClean, what is wrong has been reported.
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

// run plans, builds and runs; the tests' own output goes to out. What was prepared
// is returned even with an error, to be closed.
func (m *monitored) run(c *call, p planner.Options, out io.Writer) (*testrun.Done, error) {
	p.Tests, p.Turn = true, m.seed
	p.BuildFlags = append(p.BuildFlags, m.flags.Build...)
	pl, err := c.makePlan(p)
	if err != nil {
		return nil, err
	}
	for _, s := range pl.Stale {
		c.progress.Line("%s", s)
	}
	cfg := campaign.Config{
		TestFlags: m.flags.Binary, Timeout: m.flags.Timeout,
		OnlyFlag: "-only", HoldFlag: "-hold", ReplayFlags: m.replayFlags, Replays: m.replays,
		ExactMemory: m.memory, Sampling: m.sampling, Predict: m.predict,
	}
	if m.engine == engineHB {
		return testrun.Exact(c.ctx, c.progress, pl, m.settings(c), cfg, out)
	}
	if m.only != "" {
		at := func(place string) ([]uint32, error) { return sitesAt(pl, place) }
		if cfg.Only, cfg.Windows, err = arm.WindowsAt(m.only, at); err != nil {
			return nil, gocmd.Refuse("-only: "+err.Error(), "`interlock plan -sites` lists the places")
		}
	}
	if m.hold != "" {
		if cfg.Hold, err = locksAt(pl, m.hold); err != nil {
			return nil, gocmd.Refuse("-hold: "+err.Error(), "name where locks are acquired, as findings do")
		}
	}
	// The places of a schedule mean the same as those of -only.
	place := func(place string) ([]uint32, error) { return sitesAt(pl, place) }
	if cfg.Where, err = arm.ParseHeuristic(pl.Plan, m.schedule, place); err != nil {
		return nil, gocmd.Refuse("-schedule: "+err.Error(), "`interlock plan -sites` lists variables and places")
	}
	settings := m.settings(c)
	settings.Vet, settings.Exact = m.flags.Vet, m.engine == engineAuto && m.only == "" && m.hold == ""
	return testrun.Run(c.ctx, c.progress, pl, settings, cfg, out)
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
