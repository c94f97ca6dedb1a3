package testrun

import (
	"context"
	"fmt"
	"slices"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/atomicsets"
	"github.com/interlock-go/interlock/atomicsets/plan"
	"github.com/interlock-go/interlock/cmd/internal/planner"
	"github.com/interlock-go/interlock/cmd/internal/report"
	"github.com/interlock-go/interlock/dynamic/build"
	"github.com/interlock-go/interlock/dynamic/campaign"
)

// Results has the result of a campaign, and how a command reports it.
type Results struct {
	*Done
	Suspected    bool                        // report findings that no run showed
	Always       func(*finding.Finding) bool // reports those to report in any case; may be nil
	PlacesChosen bool                        // the user has named those that were watched
	Runs         int                         // that were asked for
	NoiseFails   bool                        // tests that fail only under noise fail the build

	// Joined is set by Fill: suspected and confirmed findings together, whether reported or not.
	Joined []*finding.Finding
}

// Join makes one list of the suspected findings of the static side and the findings of runs. A suspected finding in a
// package that was not named is kept only if a run has shown it. An error means that some of those packages could not
// be checked.
func Join(ctx context.Context, pl *planner.Planned, r *campaign.Result) ([]*finding.Finding, error) {
	var paths []string
	for _, f := range r.Findings {
		for _, a := range f.Accesses {
			paths = append(paths, a.Package)
		}
	}
	err := pl.Consult(ctx, paths)
	if err != nil {
		err = fmt.Errorf("what is accepted in packages that were not named is not known: %w", err)
	}
	return campaign.Join(pl.Vet.Findings, pl.Beside, r), err
}

// Fill puts the results into the report. The sentences returned name their limits.
func (d *Results) Fill(ctx context.Context, r *report.Report) (limits []string) {
	var err error
	if d.Joined, err = Join(ctx, d.Planned, d.Result); err != nil {
		r.Problems = append(r.Problems, err.Error())
	}
	for _, f := range d.Joined {
		if f.Status == finding.Lead { // no run showed it
			continue
		}
		if f.Status != finding.Suspected || d.Suspected || d.Always != nil && d.Always(f) {
			r.Findings = append(r.Findings, f)
		} else {
			r.Coverage.Unobserved++
		}
	}
	r.Problems = append(r.Problems, d.Planned.Vet.Problems...)
	if d.Unkept != nil {
		r.Problems = append(r.Problems, "the record lacks the last of these runs: "+d.Unkept.Error())
	}
	r.Interrupted = d.Result.Interrupted
	d.fillCoverage(r)
	limits = append(LeftAlone(d.Workspace), d.Result.Problems...)
	// Where each test hangs, none of them ran either, which its failure says already.
	ran := func(p campaign.PackageResult) bool { return !p.NoTests && !p.NoneRan || len(p.LeftOut) > 0 }
	if !d.Result.Interrupted && len(d.Result.Packages) > 0 && !slices.ContainsFunc(d.Result.Packages, ran) {
		limits = append(limits, "no test ran: the flags after -- choose none")
	}
	r.Failures = d.Failures(d.NoiseFails)
	for _, f := range r.Failures {
		limits = append(limits, f.Text)
	}
	for i := range d.Result.Packages {
		p := &d.Result.Packages[i]
		r.Skipped = append(r.Skipped, Skipped(p)...)
		switch {
		case p.FirstCut == nil:
		case p.NotCompleted < p.Runs:
			r.TimeOuts = append(r.TimeOuts, NotCompleted(p))
			limits = append(limits, NotCompleted(p))
		default: // nothing was tried, so that silence would mean nothing
			r.Problems = append(r.Problems, NotCompleted(p))
		}
	}
	return limits
}

// LeftAlone returns a line for each file that is built as it stands.
func LeftAlone(ws *build.Workspace) (all []string) {
	for _, l := range ws.LeftAlone() {
		all = append(all, fmt.Sprintf("%s is not monitored: %s", l.File, l.Why))
	}
	return all
}

// fillCoverage puts into the report how much of the plan the runs reached.
func (d *Results) fillCoverage(r *report.Report) {
	of, to := &d.Result.Coverage, &r.Coverage
	to.Engine, to.Runs, to.Asked = d.Result.Engine, d.Result.Counted, d.Runs
	to.Exact, to.Forgot, to.Partly = d.Result.Exact, min(d.Result.Forgot, d.Result.Exact), d.Result.Partly
	if to.Engine == "hb" || to.Engine == "race" { // it instruments all, and does not count the sites that runs reached
		to.Sampled = d.Result.Sampled
		return
	}
	to.Sites, to.Monitored = len(d.Planned.Plan.Sites), of.Monitored
	if d.Result.Counted == 0 { // no run has read which sites of the plan are in the binaries
		to.Monitored = atomicsets.Count(d.Planned.Plan).Monitored
	}
	to.Reached, to.Watched = len(of.Reached), len(of.Armed)
	to.Sections, to.Ended = d.Result.Sections, len(d.Result.Ended)
	r.Unreached = d.unreached()
	k := d.Result.Counters
	to.Windows, to.OverBudget = k.Windows, k.OverBudget
	to.Lost = report.Lost{Windows: k.NoSlot, Records: k.NotWritten}
	if !d.PlacesChosen { // otherwise the rest is not in the table on purpose
		to.Lost.Unknown = k.BadSite
	}
}

// unreached lists the monitored accesses that no run reached, by package.
func (d *Results) unreached() (all []report.Unreached) {
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
