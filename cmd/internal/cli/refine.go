package cli

import (
	"bufio"
	"bytes"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/interlock-go/interlock/atomicsets"
	"github.com/interlock-go/interlock/atomicsets/plan"
	"github.com/interlock-go/interlock/atomicsets/repository"
	"github.com/interlock-go/interlock/cmd/internal/planner"
	"github.com/interlock-go/interlock/cmd/internal/progress"
	"github.com/interlock-go/interlock/dynamic/build"
	"github.com/interlock-go/interlock/dynamic/campaign/refine"
)

var sectionsRefineCommand = command{
	name: "sections refine", args: "-oracle command [flags] [packages]",
	short: "drop invariants that correct runs split",
	long: `Refine runs a command, the oracle, again and again, with the monitor on, with noise, and with all
candidate sections watched; the exit code of the command decides whether the run was correct. An
access-interleaving invariant that a correct run splits is no invariant: that end of it is dropped,
with the reason. If correct runs split a section of another kind, it is only listed, and you decide; pinned
sections stay as they are. Refine ends when enough correct runs in a row change nothing. Ends that no
run reached are marked unobserved: they stay in the file and leave the plan, as do dropped ones.

Refine tries the oracle first. It must accept the program without noise, and reject at least one run
with a planted violation, in which a write is lost as if another goroutine had stored the old value
right after it. Otherwise refine does not begin.

It prints interlock.sections as it should be, or with -w writes it. The oracle runs in this folder
with the variables of "interlock env": go commands in it build the monitored program.`,
	examples: [][2]string{
		{"interlock sections refine -oracle 'go test ./...' -w ./...", "at most 100 runs"},
		{"interlock sections refine -oracle 'make check' -runs 500 -quiet 20 ./... >refined", "look before it is written"},
	},
	options: func() runner { return new(refineOptions) },
}

type refineOptions struct {
	planFlags
	oracle   string
	runs     int
	quiet    int
	plants   int
	seed     uint64
	strength int
	write    bool
}

func (o *refineOptions) declare(fs *flag.FlagSet) {
	o.declareSections(fs, "all")
	o.declareDeps(fs)
	fs.StringVar(&o.oracle, "oracle", "", "`command` whose exit code 0 means that a run was correct; the shell reads it")
	fs.IntVar(&o.runs, "runs", 100, "make at most `n` runs")
	within(fs, "runs", &o.runs, 1, math.MaxInt, "a number of runs")
	fs.IntVar(&o.quiet, "quiet", 5, "end after `n` correct runs in a row that change nothing")
	within(fs, "quiet", &o.quiet, 1, math.MaxInt, "a number of runs")
	fs.IntVar(&o.plants, "plants", 20, "try the oracle with at most `n` planted violations")
	within(fs, "plants", &o.plants, 1, math.MaxInt, "a number of violations")
	declareSeed(fs, &o.seed)
	declareStrength(fs, &o.strength)
	fs.BoolVar(&o.write, "w", false, "write the file")
}

func (o *refineOptions) run(c *call) int {
	if o.oracle == "" {
		return c.usage("-oracle is missing: the command that decides whether a run was correct, such as 'go test ./...'")
	}
	chooseSeed(&o.seed)
	defer c.progress.Clear()
	pl, f, err := o.candidates(c)
	if err != nil {
		c.progress.Clear()
		return c.failed(err)
	}
	if len(pl.Plan.Sections) == 0 {
		c.progress.Clear()
		c.warn("there is no section to refine: the code shows no candidates, and " + repository.Name + " has none")
		return c.incomplete(pl)
	}
	c.progress.Say("preparing the instrumented build")
	ws, err := build.Prepare(c.ctx, pl.Module, pl.Plan)
	if err != nil {
		c.progress.Clear()
		return c.failed(err)
	}
	defer ws.Close()
	// The oracle may turn out to be useless: then the file stays as it is.
	r, err := o.refine(c, ws, pl)
	c.progress.Clear()
	if refused(err) {
		return c.refuse(err, r)
	}
	if err != nil {
		return c.failed(err)
	}
	if r.Interrupted && len(r.Runs) == 0 { // the oracle may be useless
		return c.interrupted()
	}
	c.warn(r.Problems...)
	o.summarise(c, pl, r, apply(pl, f, r))
	if err := c.hand(f, pl.Module.Root, o.write); err != nil {
		return c.failed(err)
	}
	if r.Interrupted {
		return exitInterrupted
	}
	return c.uncompiled(pl.Uncompiled(), exitClean)
}

// candidates makes the plan with all sections that the repository file does not
// rule out, and that file with those that it lacks.
func (o *refineOptions) candidates(c *call) (*planner.Planned, *repository.File, error) {
	p, err := o.planner(c)
	if err != nil {
		return nil, nil, err
	}
	p.Unreviewed, p.Tests = true, true // the sites of tests are monitored too
	pl, err := c.makePlan(p)
	if err != nil {
		return nil, nil, err
	}
	c.warn(pl.Vet.Problems...)
	f, err := planner.LoadSections(pl.Module.Root)
	if err != nil {
		return nil, nil, err
	}
	invariants := *pl.Plan
	invariants.Sections = slices.DeleteFunc(slices.Clone(pl.Plan.Sections),
		func(s plan.Section) bool { return s.Kind != plan.Invariant })
	atomicsets.Refresh(f, &invariants, []string{plan.Invariant}, pl.Covers)
	reviewed := new(repository.File)
	for _, s := range f.Sections {
		if p.Sources.Has(s.Kind) && pl.Covers(s.Package) {
			reviewed.Sections = append(reviewed.Sections, observable(s))
		}
	}
	stale, err := atomicsets.Apply(pl.Plan, reviewed)
	c.warnStale(stale)
	return pl, f, err
}

// observable returns a copy of s without the marks of unobserved ends: these runs may observe them.
func observable(s *repository.Section) *repository.Section {
	again := *s
	again.Ends = nil
	for _, e := range s.Ends {
		end := *e
		end.Unobserved = false
		again.Ends = append(again.Ends, &end)
	}
	return &again
}

// refine runs the oracle, and reports how far it is.
func (o *refineOptions) refine(c *call, ws *build.Workspace, pl *planner.Planned) (*refine.Result, error) {
	where, err := os.Getwd()
	if err != nil {
		return nil, fmt.Errorf("finding this folder: %w", err)
	}
	c.progress.Line("%s; seeds from %d", progress.Count(len(pl.Plan.Sections), "candidate section"), o.seed)
	c.progress.Say("trying the oracle without noise")
	// Runs with a planted violation try the oracle; the others drop ends.
	dropped := 0
	return refine.Run(c.ctx, refine.Config{
		Workspace: ws, Plan: pl.Plan, Oracle: shell(o.oracle), Where: where,
		Runs: o.runs, Quiet: o.quiet, Plants: o.plants, Seed: o.seed, Strength: o.strength,
		Dir: filepath.Join(ws.Dir, "refine"),
		Progress: func(run refine.OracleRun) {
			dropped += run.Dropped
			verdict := "correct"
			if !run.Correct {
				verdict = "rejected"
			}
			switch {
			case run.Planted != 0 && c.verbose:
				s := pl.Plan.Site(run.Planted)
				c.progress.Line("a violation planted at %s:%d, %s: %s in %s", s.File, s.Line, s.Source, verdict,
					run.Elapsed.Round(time.Millisecond))
			case run.Planted == 0 && c.verbose:
				c.progress.Line("run %d, seed %d: %s in %s, %d ends split, %d of them dropped", run.Run, run.Seed, verdict,
					run.Elapsed.Round(time.Millisecond), run.Split, run.Dropped)
			}
			c.progress.At(run.Run, o.runs, fmt.Sprintf("runs, ends dropped: %d", dropped))
		},
	})
}

// shell returns the words that have the shell run a command.
func shell(command string) []string {
	if runtime.GOOS == "windows" {
		return []string{"cmd", "/C", command}
	}
	return []string{"sh", "-c", command}
}

// refused reports whether err says that the oracle is no good.
func refused(err error) bool {
	return errors.Is(err, refine.ErrOracleFails) || errors.Is(err, refine.ErrOracleBlind) ||
		errors.Is(err, refine.ErrNothingSeen) || errors.Is(err, refine.ErrNoEvidence) ||
		errors.Is(err, refine.ErrNeverCorrect)
}

// refuse reports why the oracle cannot be used, and the next step.
func (c *call) refuse(err error, r *refine.Result) int {
	next := "fix the command, or the tests"
	if len(r.Output) > 0 {
		fmt.Fprintf(c.stderr, "%s\n", lastLines(r.Output, 20))
	}
	switch {
	case errors.Is(err, refine.ErrOracleBlind):
		next = fmt.Sprintf("it accepted all %d runs in which a line lost what it wrote, so it does not distinguish correct "+
			"runs from others: name a command that checks results", len(r.Plants))
	case errors.Is(err, refine.ErrNoEvidence):
		next = "name a command that builds and runs these packages, such as 'go test ./...'"
	case errors.Is(err, refine.ErrNothingSeen):
		next = "name a command that runs more of these packages, or more packages"
	case errors.Is(err, refine.ErrNeverCorrect):
		next = "fix what `interlock test` reports, or make the noise weaker with -strength"
	}
	return c.usage("%v: %s", err, next)
}

// lastLines returns the last n lines of the output of a command.
func lastLines(text []byte, n int) []byte {
	lines := bytes.Split(bytes.TrimRight(text, "\n"), []byte("\n"))
	return bytes.Join(lines[max(len(lines)-n, 0):], []byte("\n"))
}

// changed counts the changes of a refinement to the file.
type changed struct {
	dropped, unobserved, pinned int // ends; pinned ones would have been dropped
}

// apply writes the results of r on the plan's sections into f.
func apply(pl *planner.Planned, f *repository.File, r *refine.Result) (n changed) {
	keys := atomicsets.NewKeys(pl.Plan)
	for i := range pl.Plan.Sections {
		s := &pl.Plan.Sections[i]
		in := f.Find(keys.Section(s))
		if in == nil || s.Kind != plan.Invariant {
			continue
		}
		for j := range s.Ends {
			named := in.End(keys.End(&s.Ends[j]))
			if named == nil {
				continue
			}
			// A correct run that split the end shows that it is no invariant.
			end := refine.SectionEnd{Section: s.ID, Site: s.Ends[j].Site}
			v, drop := r.Dropped[end]
			switch {
			case in.Pinned != "":
				if drop {
					n.pinned++
				}
			case drop:
				named.Drop(fmt.Sprintf("split in run %d (seed %d), which the oracle calls correct", v.Run, v.Seed))
				n.dropped++
			case named.Dropped == "" && !r.Interrupted: // a run that was not made might have seen it
				named.Unobserved = r.Seen[end] == 0
				if named.Unobserved {
					n.unobserved++
				}
			}
		}
	}
	return n
}

// summarise reports the changes, and the sections that a person must judge.
func (o *refineOptions) summarise(c *call, pl *planner.Planned, r *refine.Result, n changed) {
	b := bufio.NewWriter(c.stderr)
	defer b.Flush()
	correct := 0
	for _, run := range r.Runs {
		if run.Correct {
			correct++
		}
	}
	fmt.Fprintf(b, "interlock: %d runs in %s, %d of them correct; the oracle rejected a planted violation (try %d)\n",
		len(r.Runs), r.Elapsed.Round(time.Second), correct, len(r.Plants))
	if !r.Settled {
		fmt.Fprintf(b, "interlock: not settled: fewer than %d correct runs in a row changed nothing; make more with "+
			"-runs\n", o.quiet)
	}
	// Of the invariants: how many ends, and how many sections with an end left.
	ends, left := 0, 0
	for i := range pl.Plan.Sections {
		s := &pl.Plan.Sections[i]
		if s.Kind != plan.Invariant {
			continue
		}
		ends += len(s.Ends)
		if slices.ContainsFunc(s.Ends, func(e plan.End) bool {
			end := refine.SectionEnd{Section: s.ID, Site: e.Site}
			_, dropped := r.Dropped[end]
			return !dropped && r.Seen[end] > 0
		}) {
			left++
		}
	}
	fmt.Fprintf(b, "interlock: %s of invariants: %d dropped, %d unobserved, %d left, in %s\n",
		progress.Count(ends, "end"), n.dropped, n.unobserved, ends-n.dropped-n.unobserved, progress.Count(left, "section"))
	if n.pinned > 0 {
		fmt.Fprintf(b, "interlock: %d ends of pinned sections were split in correct runs and stay\n", n.pinned)
	}
	list(b, pl.Plan, r.Listed, "split in a correct run; you decide")
	list(b, pl.Plan, r.Faulty, "split in incorrect runs only: look here first")
}

// list writes a line for each end, with the name of its section.
func list(b *bufio.Writer, p *plan.Plan, ends map[refine.SectionEnd]refine.Violation, what string) {
	var lines []string
	for end, v := range ends {
		s, site := &p.Sections[end.Section-1], p.Site(end.Site)
		lines = append(lines, fmt.Sprintf("interlock: %s, end at %s:%d: %s (run %d, seed %d)\n", s.Name, site.File,
			site.Line, what, v.Run, v.Seed))
	}
	slices.Sort(lines)
	for _, l := range lines {
		b.WriteString(l)
	}
}
