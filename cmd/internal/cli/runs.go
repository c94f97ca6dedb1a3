package cli

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/atomicsets/plan"
	"github.com/interlock-go/interlock/cmd/internal/planner"
	"github.com/interlock-go/interlock/cmd/internal/report"
	"github.com/interlock-go/interlock/cmd/internal/testflags"
	"github.com/interlock-go/interlock/cmd/internal/testrun"
	"github.com/interlock-go/interlock/dynamic/build"
	"github.com/interlock-go/interlock/dynamic/campaign"
	"github.com/interlock-go/interlock/dynamic/campaign/arm"
	"github.com/interlock-go/interlock/dynamic/gocmd"
)

// monitored is a campaign as a command line asks for it.
type monitored struct {
	campaignFlags
	flags       testflags.Flags
	engine      string // "" is that of the monitor alone
	memory      int    // of the happens-before engine, in megabytes
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
		ExactMemory: m.memory, Predict: m.predict,
	}
	if m.engine == engineHB {
		return testrun.Exact(c.ctx, c.progress, pl, m.settings(c), cfg, out)
	}
	if m.only != "" {
		if cfg.Only, err = sitesAt(pl, m.only); err != nil {
			return nil, gocmd.Refuse("-only: "+err.Error(), "`interlock plan` shows the places")
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
		return nil, gocmd.Refuse("-schedule: "+err.Error(), "`interlock plan` shows variables and places")
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

// results are what a campaign showed, and how a command reports it.
type results struct {
	*testrun.Done
	suspected    bool                        // report findings that no run showed
	always       func(*finding.Finding) bool // reports those to report in any case; may be nil
	placesChosen bool                        // the user has named those that were watched
	runs         int                         // that were asked for

	joined []*finding.Finding // set by fill: suspected and confirmed ones together
}

// fill puts the results into the report, and reports on standard error what limits
// them.
func (d *results) fill(c *call, r *report.Report) {
	d.joined = campaign.Join(d.Planned.Vet.Findings, d.Result)
	for _, f := range d.joined {
		if f.Status != finding.Suspected || d.suspected || d.always != nil && d.always(f) {
			r.Findings = append(r.Findings, f)
		} else {
			r.Coverage.Unobserved++
		}
	}
	r.Problems = append(r.Problems, d.Planned.Vet.Problems...)
	r.Interrupted = d.Result.Interrupted
	d.fillCoverage(r)
	c.warnLeftAlone(d.Workspace)
	c.warn(d.Result.Problems...)
	ran := func(p campaign.PackageResult) bool { return !p.NoTests && !p.NoneRan }
	if !d.Result.Interrupted && len(d.Result.Packages) > 0 && !slices.ContainsFunc(d.Result.Packages, ran) {
		c.warn("no test ran: the flags after -- choose none")
	}
	r.Failures = d.Failures()
	c.warn(r.Failures...)
	for i := range d.Result.Packages {
		p := &d.Result.Packages[i]
		switch {
		case p.FirstCut == nil:
		case p.NotCompleted < p.Runs:
			c.warn(testrun.NotCompleted(p))
		default: // nothing was tried, so that silence would mean nothing
			r.Problems = append(r.Problems, testrun.NotCompleted(p))
		}
	}
}

// fillCoverage puts into the report how much of the plan the runs reached.
func (d *results) fillCoverage(r *report.Report) {
	of, to := &d.Result.Coverage, &r.Coverage
	to.Engine, to.Runs, to.Asked, to.Exact = d.Result.Engine, d.Result.Runs, d.runs, d.Result.Exact
	if to.Engine == engineHB { // it instruments all, and does not count what the runs reached
		return
	}
	to.Sites, to.Monitored = len(d.Planned.Plan.Sites), of.Monitored
	to.Reached, to.Watched = len(of.Reached), len(of.Armed)
	to.Sections, to.Ended = d.Result.Sections, d.Result.Ended
	r.Unreached = d.unreached()
	k := d.Result.Counters
	to.Windows, to.OverBudget = k.Windows, k.OverBudget
	to.Lost = report.Lost{Windows: k.NoSlot, Records: k.NotWritten}
	if !d.placesChosen { // otherwise the rest is not in the table on purpose
		to.Lost.Unknown = k.BadSite
	}
}

// unreached lists the monitored accesses that no run reached, by package.
func (d *results) unreached() (all []report.Unreached) {
	reached := map[uint32]bool{}
	for _, id := range d.Result.Coverage.Reached {
		reached[id] = true
	}
	at := map[string]int{}
	for i := range d.Planned.Plan.Sites {
		s := &d.Planned.Plan.Sites[i]
		if s.Decision != plan.Monitor || reached[s.ID] {
			continue
		}
		if _, known := at[s.Package]; !known {
			at[s.Package] = len(all)
			all = append(all, report.Unreached{Package: s.Package})
		}
		u := &all[at[s.Package]]
		u.Places = append(u.Places, fmt.Sprintf("%s:%d: %s of %s", s.File, s.Line, s.Mode, s.Expr))
	}
	return all
}

// warnLeftAlone reports the files that are built as they stand.
func (c *call) warnLeftAlone(ws *build.Workspace) {
	for _, l := range ws.LeftAlone() {
		c.warn(fmt.Sprintf("%s is not monitored: %s", l.File, l.Why))
	}
}
