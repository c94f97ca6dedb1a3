package cli

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/atomicsets"
	"github.com/interlock-go/interlock/cmd/internal/report"
	"github.com/interlock-go/interlock/dynamic/build"
	"github.com/interlock-go/interlock/dynamic/campaign"
)

// monitored is a campaign made: the plan, the build and what the runs showed.
type monitored struct {
	plan      *planned
	workspace *build.Workspace
	result    *campaign.Result
	joined    []*finding.Finding // suspected and confirmed ones together
}

// monitored plans, builds and runs; the tests' own output goes to out. What was
// prepared is returned even with an error, to be closed.
func (c *call) monitored(p *progress, flags testFlags, out io.Writer) (*monitored, error) {
	pl, err := c.makePlan(p, "", append(c.buildFlags(), flags.build...))
	if err != nil {
		return nil, err
	}
	for _, s := range pl.stale {
		p.line("%s", s)
	}
	cfg := campaign.Config{TestFlags: flags.binary, Timeout: flags.timeout, OnlyFlag: "-only", ReplayFlags: c.planFlags(), Replays: c.replays}
	if c.only != "" {
		if cfg.Only, err = sitesAt(pl, c.only); err != nil {
			return nil, &build.ConfigError{Problem: "-only: " + err.Error(), Next: "`interlock plan` shows the places"}
		}
	}
	if cfg.Where, err = campaign.ParseHeuristic(pl.plan, c.noise, func(place string) ([]uint32, error) { return sitesAt(pl, place) }); err != nil {
		return nil, &build.ConfigError{Problem: "-noise: " + err.Error(), Next: "`interlock plan` shows variables and places"}
	}
	return c.execute(p, pl, cfg, out)
}

// planFlags returns the flags of this call that decide about the plan.
func (c *call) planFlags() (flags []string) {
	if c.sections != defaultSections {
		flags = append(flags, "-sections="+c.sections)
	}
	if c.whole {
		flags = append(flags, "-whole")
	}
	return flags
}

// sitesAt returns the sites at places, with commas between: relative to the root, as plan and
// replay commands have them, or to this folder, as findings show them.
func sitesAt(pl *planned, places string) ([]uint32, error) {
	var all []uint32
	for place := range strings.SplitSeq(places, ",") {
		ids, err := campaign.SitesAt(pl.plan, place)
		if err != nil {
			ids, err = campaign.SitesAt(pl.plan, rebased(place, pl.module.Root))
		}
		if err != nil {
			return nil, fmt.Errorf("no monitored access at %q", place)
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

// execute carries out a plan: cfg says what the call's own flags do not, and
// the tests' own output goes to out, if that is not nil.
func (c *call) execute(p *progress, pl *planned, cfg campaign.Config, out io.Writer) (*monitored, error) {
	p.say("preparing the instrumented build")
	ws, err := build.Prepare(c.ctx, pl.module, pl.plan)
	if err != nil {
		return nil, err
	}
	m := &monitored{plan: pl, workspace: ws}
	p.say("building the tests")
	if cfg.Binaries, err = ws.BuildTests(c.ctx); err != nil {
		return m, err
	}
	if c.verbose {
		p.line("monitored accesses: %d, rewritten files: %d, seeds from %d", atomicsets.Count(pl.plan).Monitored, ws.Rewritten(), c.seed)
	}
	cfg.Workspace, cfg.Plan, cfg.Runs = ws, pl.plan, c.runs
	cfg.Seed, cfg.Budget, cfg.Strength, cfg.Prob = c.seed, c.budget, c.strength, c.prob
	if out != nil {
		cfg.Stdout = &interleaved{p, out}
	}
	cfg.Progress = c.watch(p)
	if out != nil {
		c.tellTimeout(p, &cfg)
	}
	m.result, err = campaign.Run(c.ctx, cfg)
	return m, err
}

// testOutput is where the tests' own output goes: not among a report that
// programs read.
func (c *call) testOutput() io.Writer {
	if c.format == "text" {
		return c.stdout
	}
	return c.stderr
}

// watch shows a campaign's events.
func (c *call) watch(p *progress) func(campaign.Event) {
	caught := 0
	return func(e campaign.Event) {
		switch e.Kind {
		case campaign.RunStarted:
			p.at(e.Run-1, e.Runs, fmt.Sprintf("runs, bugs caught: %d", caught))
		case campaign.Caught:
			caught++
		case campaign.Replaying:
			p.at(e.Run-1, e.Runs, "replays of findings tried")
		case campaign.Measured:
			if c.verbose {
				p.line("%s %s in %s without noise; a run may take %s", e.Package, e.Outcome, e.Elapsed.Round(time.Millisecond), e.Limit.Round(time.Second))
			}
		case campaign.Weakened:
			if c.verbose {
				p.line("%s %s under noise, and not without: its strength is at most %d from now on", e.Package, e.Outcome, e.Strength)
			}
		case campaign.PackageDone:
			if c.verbose {
				p.line("run %d of %d, seed %d, strength %d: %s %s in %s", e.Run, e.Runs, e.Seed, e.Strength, e.Package, e.Outcome, e.Elapsed.Round(time.Millisecond))
			}
		}
	}
}

// tellTimeout says once that tests get more time than the user set.
func (c *call) tellTimeout(p *progress, cfg *campaign.Config) {
	watch := cfg.Progress
	cfg.Progress = func(e campaign.Event) {
		if e.Kind == campaign.RunStarted && e.Run == 1 && e.Limit > 0 {
			p.line("noise takes time, so the tests have a timeout of %s, not of %s as under go test", e.Limit, campaign.PlainTimeout(cfg.Timeout))
		}
		watch(e)
	}
}

// interleaved writes to w without a bar in the way.
type interleaved struct {
	p *progress
	w io.Writer
}

func (i *interleaved) Write(b []byte) (int, error) {
	i.p.clear()
	return i.w.Write(b)
}

// close removes what the build has laid out.
func (m *monitored) close(c *call) {
	if err := m.workspace.Close(); err != nil {
		fmt.Fprintf(c.stderr, "interlock: removing the temporary folder: %v\n", err)
	}
}

// fill puts into the report what the campaign has shown, and tells what
// limits it.
func (m *monitored) fill(c *call, r *report.Report) {
	m.joined = campaign.Join(m.plan.static.findings, m.result)
	for _, f := range m.joined {
		if f.Status != finding.Suspected || c.suspected {
			r.Findings = append(r.Findings, f)
		} else {
			r.Coverage.Unobserved++
		}
	}
	r.Problems = append(r.Problems, m.plan.static.problems...)
	for _, l := range m.workspace.LeftAlone() {
		c.tell(fmt.Sprintf("%s is not monitored: %s", l.File, l.Why))
	}
	c.tell(m.result.Problems...)
	ran := func(p campaign.PackageResult) bool { return !p.NoTests && !p.NoneRan }
	if !m.result.Interrupted && len(m.result.Packages) > 0 && !slices.ContainsFunc(m.result.Packages, ran) {
		c.tell("no test ran: the flags after -- choose none")
	}
	r.Interrupted = m.result.Interrupted
	cov := m.result.Coverage
	r.Coverage.Sites, r.Coverage.Monitored = len(m.plan.plan.Sites), cov.Monitored
	r.Coverage.Reached, r.Coverage.Watched = len(cov.Reached), len(cov.Armed)
	r.Coverage.Runs, r.Coverage.Asked = m.result.Runs, c.runs
	r.Coverage.Sections, r.Coverage.Ended = m.result.Sections, m.result.Ended
	k := m.result.Counters
	r.Coverage.Windows, r.Coverage.OverBudget = k.Windows, k.OverBudget
	r.Coverage.Lost = report.Lost{Windows: k.NoSlot, Records: k.NotWritten}
	if c.only == "" { // else the others are passed by on purpose
		r.Coverage.Lost.Unknown = k.BadSite
	}
	r.Failures = failures(m.result)
	c.tell(r.Failures...)
	for i := range m.result.Packages {
		p := &m.result.Packages[i]
		switch {
		case p.FirstCut == nil:
		case p.NotCompleted < p.Runs:
			c.tell(notCompleted(p))
		default: // nothing was tried, so that silence would mean nothing
			r.Problems = append(r.Problems, notCompleted(p))
		}
	}
}

// notCompleted returns which runs Interlock has ended, and why.
func notCompleted(p *campaign.PackageResult) string {
	f := p.FirstCut
	s := fmt.Sprintf("the tests of %s were not completed in %d of %d runs: interlock ended them after %s, without noise they took %s",
		p.Package, p.NotCompleted, p.Runs, f.Elapsed.Round(time.Second/10), p.PlainTime.Round(time.Second/10))
	if p.NotCompleted == 0 {
		s = fmt.Sprintf("run %d of the tests of %s took more than %s, where without noise they took %s; it was completed with less noise", f.Run, p.Package, f.Elapsed.Round(time.Second/10), p.PlainTime.Round(time.Second/10))
	}
	switch {
	case p.NotCompleted == 0:
	case len(p.LeftOut) > 0: // the run without noise has come no further than these
		s += fmt.Sprintf("; without noise they hang in %s, and may hang elsewhere too: leave out more of them with -- -skip", strings.Join(p.LeftOut, ", "))
	default:
		s += "; that is no failure of theirs"
	}
	if f.Busy {
		s += "; the machine was busy with other work"
	}
	return s
}

// failures say which packages' tests failed, as the tests' own output does not
// say in which runs, nor whether the monitor has to do with it.
func failures(r *campaign.Result) []string {
	var all []string
	for i := range r.Packages {
		if p := &r.Packages[i]; p.Fails() {
			all = append(all, failureOf(p, len(r.Findings) > 0))
		}
	}
	return all
}

// failureOf tells in a line how the tests of a package failed.
func failureOf(p *campaign.PackageResult, findings bool) string {
	if p.Failures == 0 {
		s := fmt.Sprintf("the tests of %s %s without the monitor", p.Package, p.PlainFailure.Outcome)
		if p.Runs > p.NotCompleted {
			s += fmt.Sprintf("; in %d monitored runs they passed", p.Runs-p.NotCompleted)
		}
		if len(p.LeftOut) > 0 {
			s += "; the monitored runs left out " + strings.Join(p.LeftOut, ", ")
		}
		return s
	}
	if p.UnderNoise == 0 {
		s := fmt.Sprintf("the tests of %s %s in %d of %d runs, first in run %d with seed %d", p.Package, p.First.Outcome, p.Failures, p.Runs, p.First.Run, p.First.Seed)
		if p.Plain != "" {
			s += fmt.Sprintf("; without noise they %s too", p.Plain)
		}
		return s
	}
	what, why, f := "the tests of "+p.Package, "they depend on timing, or have a bug", p.UnderNoiseFirst
	if len(p.Tests) == 1 {
		why = "it depends on timing, or has a bug"
	}
	if len(p.Tests) > 0 {
		what = strings.Join(p.Tests, ", ") + " of " + p.Package
	}
	s := fmt.Sprintf("%s %s only under noise: %s that the monitor cannot name; in %d of %d runs, first in run %d with seed %d and strength %d",
		what, f.Outcome, why, p.UnderNoise, p.Runs, f.Run, f.Seed, f.Strength)
	switch {
	case p.Strength > 0 && f.Run < p.Runs:
		s += fmt.Sprintf("; no finding explains it, so later runs had a strength of at most %d", p.Strength)
	case findings:
		s += "; a finding may explain it"
	}
	return s
}
