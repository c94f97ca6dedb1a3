package cli

import (
	"fmt"
	"slices"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/atomicsets/plan"
	"github.com/interlock-go/interlock/cmd/internal/report"
	"github.com/interlock-go/interlock/cmd/internal/testrun"
	"github.com/interlock-go/interlock/dynamic/build"
	"github.com/interlock-go/interlock/dynamic/campaign"
)

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
