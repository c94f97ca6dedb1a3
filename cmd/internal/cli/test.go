package cli

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
)

var testCommand = command{
	name: "test", args: "[flags] [packages] [-- go test flags]", short: "run the tests under the monitor, and report bugs caught in the act",
	long: `Test builds the packages' tests with a monitor put before the accesses that "interlock plan" shows,
and runs them many times, each run with another seed. The monitor holds a goroutine for a moment
right at an access, and reports when another goroutine makes a conflicting one. Such a
finding is confirmed: it has happened. Each comes with a command that replays its run.

The tests' own output goes to standard output as go test prints it (to standard error if -format
is not text): the first run whole, then each package's first failure. Flags after -- are those of
go test, whose checks by go vet are left out. Your files are not touched; the instrumented copies
live in a temporary folder.

Noise is gentle in most runs and strong in some. Tests may fail under it that pass without: they
count on time, or the noise has brought out a bug that the monitor does not see. Both end in exit
code 1, are told apart from findings, and weaken the noise for that package from then on. A test
that is known to count on time is left out with -- -skip TestName.

What fails in the run without noise, which is made before all others, has failed whatever the
monitored runs do. A monitored run that takes several times as long is ended, with the goroutines that
wait. That is no failure: it is made again with less noise, and reported as not completed if that does
not help.`,
	examples: [][2]string{
		{"interlock test ./...", "all tests, 10 runs"},
		{"interlock test -runs 100 ./cache -- -run TestEvict -short", "one test, 100 runs"},
		{"interlock test -seed 42 -runs 1 -strength 150 ./cache", "a run again"},
		{"interlock test -deps golang.org/x/sync ./...", "with a dependency monitored as well"},
		{"interlock test -o sarif:interlock.sarif -o jsonl:interlock.jsonl ./...", "with reports for programs"},
	},
	flags: func(fs *flag.FlagSet, o *options) {
		reportFlags(fs, o)
		campaignFlags(fs, o)
		sectionsFlag(fs, o, defaultSections)
		depsFlag(fs, o)
		wholeFlag(fs, o, "accesses are not monitored where no two goroutines\ncan meet, nor, but for a tenth of the variables, another one with each seed, where the same lock is always held")
		fs.StringVar(&o.only, "only", "", "make noise at these `places` only, file:line:column[,…] relative to the module's root\n(to the folder of go.work, if one is in force) or to this folder; replay commands use it")
		fs.IntVar(&o.replays, "replays", defaultReplays, "try the replay command of each finding `n` times, as far as half of the time of the runs suffices")
		fs.BoolVar(&o.suspected, "suspected", false, "report suspected findings too, with a note if no run showed them")
	},
	tests: true,
	run:   runTest,
}

const (
	defaultRuns    = 10
	defaultReplays = 5
)

// campaignFlags are those of the commands that run tests.
func campaignFlags(fs *flag.FlagSet, o *options) {
	fs.IntVar(&o.runs, "runs", defaultRuns, "make `n` runs")
	fs.Uint64Var(&o.seed, "seed", 0, "`seed` of the first run, each further one adds 1 (default: a new one, which findings name)")
	fs.IntVar(&o.budget, "budget", 0, "let noise take at most this `percent` of the time that the tests take without it (default 200)")
	fs.IntVar(&o.prob, "prob", 0, "hold a goroutine at an access that is due with this `probability` of 1000 (default 1000)")
	fs.StringVar(&o.noise, "noise", "guided", "where goroutines are held: `guided` by static findings and near misses, random (all accesses alike),\nvariable:name,… (all accesses to these, such as Account.balance) or location:file:line,…")
	fs.IntVar(&o.strength, "strength", 0, "hold goroutines for about so many `microseconds` (default: varied from run to run)")
}

// maxBudget lets noise take a hundred times as long as the tests: windows of
// milliseconds at every access of tests that take as long in all.
const maxBudget = 10_000

// maxStrength is a second: a window as long as that catches whatever comes by.
const maxStrength = 1_000_000

// checkCampaign finds faults in the flags, and chooses what they leave open.
func (o *options) checkCampaign() error {
	if o.runs < 1 {
		return fmt.Errorf("-runs %d: at least one run is needed", o.runs)
	}
	if o.replays < 0 {
		return fmt.Errorf("-replays %d: want a number, 0 for none", o.replays)
	}
	if o.budget < 0 || o.budget > maxBudget {
		return fmt.Errorf("-budget %d: want a percentage, at most %d", o.budget, maxBudget)
	}
	if o.strength < 0 || o.strength > maxStrength {
		return fmt.Errorf("-strength %d: want microseconds, at most %d", o.strength, maxStrength)
	}
	if o.prob < 0 || o.prob > 1000 {
		return fmt.Errorf("-prob %d: want a number up to 1000", o.prob)
	}
	if o.only != "" && o.noise != "guided" {
		return fmt.Errorf("-only and -noise both say where: give one of them")
	}
	if o.seed == 0 {
		o.seed = uint64(rand.Uint32()) + 1 // short, since people type it
	}
	return o.out.probe()
}

func runTest(c *call) int {
	if err := c.checkCampaign(); err != nil {
		return c.usage("%v", err)
	}
	still, err := c.still()
	if err != nil {
		return c.failed(err)
	}
	flags, err := splitTestFlags(still.Flags, c.testFlags)
	if err != nil {
		return c.usage("%v", err)
	}
	p := newProgress(c.stderr)
	if len(flags.cover) > 0 {
		p.line("coverage is measured in a run of its own, without the monitor, whose calls would count too")
		if err := c.cover(flags); err != nil {
			return c.failed(err)
		}
	}
	m, err := c.monitored(p, flags, c.testOutput())
	if m != nil {
		defer m.close(c)
	}
	p.clear()
	if err != nil {
		return c.failed(err)
	}
	r := c.newReport("test", m.plan.module.Root)
	m.fill(c, r)
	return c.uncompiled(m.plan.uncompiled(), c.finish(r, m.result.Failed()))
}

// cover has go test measure coverage. Tests that fail there fail in the
// campaign too, which tells.
func (c *call) cover(flags testFlags) error {
	still, err := c.still()
	if err != nil {
		return err
	}
	args := slices.Concat([]string{"test"}, c.buildFlags(), flags.cover, c.packages, flags.goTest())
	cmd := exec.CommandContext(c.ctx, "go", args...)
	cmd.Env = still.Env(os.Environ())
	out := c.testOutput()
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
