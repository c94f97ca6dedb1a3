package cli

import (
	"errors"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/interlock-go/interlock/atomicsets"
	"github.com/interlock-go/interlock/cmd/internal/planner"
	"github.com/interlock-go/interlock/cmd/internal/report"
	"github.com/interlock-go/interlock/cmd/internal/testrun"
	"github.com/interlock-go/interlock/dynamic/campaign/arm"
)

// The groups of flags that several commands have. A command embeds those that it
// knows.

// reportFlags say where the report goes, and how it looks.
type reportFlags struct {
	format     string
	out        report.Outputs
	repository string // files are relative to it in formats for code hosts; empty: where .git is
}

func (o *reportFlags) declare(fs *flag.FlagSet) {
	o.format = "text"
	fs.Func("format", "`format` of standard output: "+
		strings.Join(report.Formats(), ", ")+" (default text)", func(s string) error {
		_, err := report.For(s)
		o.format = s
		return err
	})
	fs.Var(&o.out, "o", "write a report to a file as well, as `format:path`; may be given several times")
	fs.StringVar(&o.repository, "sarif-root", "", "name files relative to this `folder` in sarif, rdjson and what CI "+
		"systems read\n(default: the root of the git repository, else of the module)")
}

// probe finds out whether the reports of -o can be written.
func (o *reportFlags) probe() error { return probe(o.out) }

func probe(out report.Outputs) error {
	if err := out.Probe(); err != nil {
		return misfit("o", "%v", err)
	}
	return nil
}

// planFlags are the flags of the plan.
type planFlags struct {
	sections sectionKinds
	deps     []string
	whole    bool
	thorough bool
}

// declareWhole declares -whole and -thorough; effect describes -whole for the command.
func (o *planFlags) declareWhole(fs *flag.FlagSet, effect string) {
	fs.BoolVar(&o.thorough, "thorough", false, "look for endless waits in all of a large package, not only in its\n"+
		"smaller functions: up to four times the CPU time of the checks, and rarely another finding")
	fs.BoolVar(&o.whole, "whole", o.whole, "analyse the whole program, dependencies included: "+effect+".\n"+
		"Takes seconds to minutes, and about 3 GB of memory for a million lines. Code behind reflection, unsafe,\n"+
		"assembly and cgo is assumed to do anything; only accesses to computed addresses are missed")
}

// wholeSkips is the effect of -whole on commands that make a plan.
const wholeSkips = "accesses that no two goroutines can make at the\n" +
	"same time, or that are always made under one lock, are not monitored, except for a tenth of these\n" +
	"variables, another tenth with each seed"

// declareDeps declares -deps.
func (o *planFlags) declareDeps(fs *flag.FlagSet) {
	fs.Func("deps", "monitor these dependencies too: `patterns` of module or package paths, such as\n"+
		"golang.org/x/..., with commas between; may be given several times", func(s string) error {
		o.deps = append(o.deps, strings.Split(s, ",")...)
		return nil
	})
}

// declareSections declares -sections, which lets people choose the sections that
// are watched. A command without it watches the default ones.
func (o *planFlags) declareSections(fs *flag.FlagSet, value string) {
	o.sections = sectionKinds(value)
	fs.Var(&o.sections, "sections", "which atomic `sections`, with commas between: inferred (load and store, test\n"+
		"and use), user (those that comments and interlock.sections declare), ai (access-interleaving\n"+
		"invariants), all or none")
}

// planner returns the options of the plan of a call.
func (o *planFlags) planner(c *call) (planner.Options, error) {
	still, err := c.still()
	if err != nil {
		return planner.Options{}, err
	}
	return planner.Options{
		Patterns: c.packages, BuildFlags: c.buildFlags(), Still: still, Deps: o.deps, Whole: o.whole,
		Sources: o.sections.sources(), Verbose: c.verbose, Progress: c.progress, Thorough: o.thorough,
	}, nil
}

// replayFlags returns those of the flags that a replay needs, so that it has the
// same plan.
func (o *planFlags) replayFlags() (flags []string) {
	if o.sections != "" && o.sections != defaultSections {
		flags = append(flags, "-sections="+string(o.sections))
	}
	if o.whole {
		flags = append(flags, "-whole")
	}
	return flags
}

// sectionKinds is the value of -sections: kinds with commas between. The zero
// value stands for the default.
type sectionKinds string

// Kinds of sections, as -sections names them.
const (
	fromInference = "inferred" // load-and-store and test-and-use
	fromUser      = "user"
	fromPairs     = "ai" // access-interleaving invariants

	defaultSections = fromInference + "," + fromUser
)

// String returns the kinds.
func (k *sectionKinds) String() string { return string(*k) }

// Set takes kinds with commas between.
func (k *sectionKinds) Set(s string) error {
	for word := range strings.SplitSeq(s, ",") {
		if !slices.Contains([]string{fromInference, fromUser, fromPairs, "all", "none"}, word) {
			return fmt.Errorf("unknown kind of section %q: use some of inferred, user, ai, or all or none", word)
		}
	}
	*k = sectionKinds(s)
	return nil
}

func (k sectionKinds) sources() atomicsets.Sources {
	if k == "" {
		k = defaultSections
	}
	words := strings.Split(string(k), ",")
	has := func(word string) bool { return slices.Contains(words, word) || slices.Contains(words, "all") }
	return atomicsets.Sources{Inferred: has(fromInference), User: has(fromUser), Invariants: has(fromPairs)}
}

// campaignFlags say how the tests are run.
type campaignFlags struct {
	set     testrun.Settings
	runsSet bool   // the command line has it; check chooses otherwise
	engine  string // "" is auto
	noisePlaces
}

// noisePlaces are where noise is made, by flags that are read with the plan.
type noisePlaces struct {
	schedule string
	depth    int    // of DrFinder's stacks
	only     string // with commas between
	hold     string // the same
}

const (
	defaultRuns  = 10
	autoSchedule = "auto"
	allCases     = 1000 // of -prob
)

func (o *campaignFlags) declare(fs *flag.FlagSet) {
	fs.IntVar(&o.set.Noise.Budget, "budget", 0, "let noise take at most this `percent` of the time that the tests "+
		"take without it:\n"+
		"200, the default, is twice that time; at most 10000. It has all runs made: -runs says how many")
	within(fs, "budget", &o.set.Noise.Budget, 0, maxBudget, "a percentage")
	o.declareNoise(fs)
}

// declareNoise declares the flags of declare except -budget.
func (o *campaignFlags) declareNoise(fs *flag.FlagSet) {
	o.declareRuns(fs)
	fs.Func("prob", "hold a goroutine in this `number` of 1000 cases in which it could be held (default 1000); with 0, "+
		"only\nwhere -only, -hold or the auto schedule has planned it", func(s string) error {
		n, err := strconv.Atoi(s)
		if err != nil || n < 0 || n > allCases {
			return fmt.Errorf("want a number up to %d", allCases)
		}
		// As a campaign has it: 0 holds in all cases.
		switch n {
		case 0:
			n = -1
		case allCases:
			n = 0
		}
		o.set.Noise.Prob = n
		return nil
	})
	fs.StringVar(&o.schedule, "schedule", autoSchedule, "the `schedule` says where goroutines are held: auto (at "+
		"accesses that static findings\nand near misses point to, for as long as earlier runs have shown two of them to be\n"+
		"apart; in some runs where goroutines start, and before locks), guided (at such accesses in\n"+
		"all runs, without what earlier runs have shown), random (all accesses alike),\n"+
		"contest (now and then, at accesses, before locks and where goroutines start),\n"+
		"pct or pct:depth (a goroutine waits while one of higher priority is at work;\n"+
		"priorities change depth-1 times in a run, by default twice),\n"+
		"drfinder (before a lock, until another goroutine that leads to such a lock has acquired it),\n"+
		"variable:name,… (all accesses to these, such as Account.balance) or location:file:line,…")
	refuse(fs, "schedule", func() error { return arm.CheckHeuristic(o.schedule) })
	fs.IntVar(&o.depth, "depth", 0, "let drfinder look at this `number` of functions on the stack for those that lead "+
		"to a lock\n(default 12)")
	within(fs, "depth", &o.depth, 0, maxDepth, "a number of functions")
	fs.IntVar(&o.set.Noise.Strength, "strength", 0, "hold goroutines for about this many `microseconds` (default: "+
		"varied from run to run);\n"+
		"where the auto schedule knows how far two accesses are apart, it holds for that long")
	within(fs, "strength", &o.set.Noise.Strength, 0, maxStrength, "microseconds")
}

// refuse makes a flag that is declared already refuse the values in which fault finds one, wherever they stand: on
// the command line and in the file of settings.
func refuse(fs *flag.FlagSet, name string, fault func() error) {
	f := fs.Lookup(name)
	f.Value = tested{f.Value.(flag.Getter), fault}
}

// within is refuse for a number outside of a range, with its unit.
func within(fs *flag.FlagSet, name string, n *int, least, most int, what string) {
	refuse(fs, name, func() error {
		if *n >= least && *n <= most {
			return nil
		}
		if most == math.MaxInt {
			return fmt.Errorf("want %s, at least %d", what, least)
		}
		return fmt.Errorf("want %s, from %d to %d", what, least, most)
	})
}

// tested is the value of a flag that is tested once it is set.
type tested struct {
	flag.Getter
	fault func() error
}

// Set sets the value, and returns an error about a wrong one.
func (t tested) Set(s string) error {
	if err := t.Getter.Set(s); err != nil {
		return err
	}
	return t.fault()
}

// declareRuns declares -runs and -seed.
func (o *campaignFlags) declareRuns(fs *flag.FlagSet) {
	fs.Func("runs", fmt.Sprintf("make `n` runs (default %d)", defaultRuns), func(s string) (err error) {
		o.runsSet = true
		switch o.set.Runs, err = strconv.Atoi(s); {
		case err != nil:
			return errors.New("want a number, such as 20")
		case o.set.Runs < 1:
			return errors.New("at least one run is needed")
		}
		return nil
	})
	declareSeed(fs, &o.set.Seed)
}

func declareSeed(fs *flag.FlagSet, seed *uint64) {
	fs.Func("seed", "`seed` of the first run; each later run adds 1, but auto may take another of\n"+
		"three in a row (default: random; findings name it)",
		func(s string) (err error) {
			if *seed, err = strconv.ParseUint(s, 10, 64); err != nil {
				return errors.New("want a whole number from 0 on, such as 42")
			}
			return nil
		})
}

// maxBudget lets noise take a hundred times as long as the tests: windows of
// milliseconds at every access of tests that take as long in all.
const maxBudget = 10_000

// maxDepth is how many calls of a stack the monitor looks at.
const maxDepth = 64

// maxStrength is a second: a window as long as that catches whatever arrives.
const maxStrength = 1_000_000

// fit finds flags that do not fit each other.
func (o *campaignFlags) fit() error {
	if o.depth != 0 && o.schedule != arm.DrFinder {
		return misfit("depth", "is for -schedule=%s alone: add that, or leave it out", arm.DrFinder)
	}
	return nil
}

// choose chooses the seed and the number of runs unless the user has.
func (o *campaignFlags) choose(c *call) {
	o.set.Verbose = c.verbose
	if !o.runsSet {
		o.set.Runs = defaultRuns
	}
	chooseSeed(&o.set.Seed)
}

// chooseSeed draws a seed unless the user has. It is short, since people type it.
func chooseSeed(seed *uint64) {
	if *seed == 0 {
		*seed = uint64(rand.Uint32()) + 1
	}
}

// declareStrength declares a strength that has a fixed default.
func declareStrength(fs *flag.FlagSet, strength *int) {
	fs.IntVar(strength, "strength", 100, "hold goroutines for about this many `microseconds`")
	within(fs, "strength", strength, 1, maxStrength, "microseconds")
}

// choosesPlaces reports whether -schedule names places or variables.
func (o *campaignFlags) choosesPlaces() bool {
	return strings.HasPrefix(o.schedule, "location:") || strings.HasPrefix(o.schedule, "variable:")
}
