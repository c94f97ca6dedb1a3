package audit

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/cmd/internal/progress"
	"github.com/interlock-go/interlock/cmd/internal/testrun"
	"github.com/interlock-go/interlock/dynamic/build"
	"github.com/interlock-go/interlock/dynamic/campaign"
	"github.com/interlock-go/interlock/dynamic/campaign/merge"
)

// RunOptions say how the tests are run.
type RunOptions struct {
	Built    *testrun.Built
	Settings testrun.Settings // Runs and Seed are those of each package
	Deadline time.Time        // when the last run has to be over
	Progress *progress.Reporter
}

// Ran has the results of the tests of all packages, with those of a resumed audit.
type Ran struct {
	*campaign.Result
	Complete bool
	// Cut are sentences on packages that the budget left with fewer runs, Problems on packages with tests that could
	// not be run.
	Cut, Problems []string
}

// Runs runs the tests package by package. Each has the same share of the time that is left; the others use the rest of
// a share in a further round. A package that fails does not stop the others.
func (a *Audit) Runs(ctx context.Context, o RunOptions) (*Ran, error) {
	left := slices.DeleteFunc(slices.Clone(o.Built.Binaries), func(b build.Binary) bool { return b.Path == "" })
	total, ran := len(left), &Ran{}
	for round := 1; len(left) > 0 && time.Now().Before(o.Deadline) && ctx.Err() == nil; round++ {
		var again []build.Binary
		for i, b := range left {
			n := total - len(left) + i + 1
			done, err := a.runPackage(ctx, &o, b, n, total, len(left)-i)
			switch {
			case errors.Is(err, errKeep):
				return nil, err
			case err != nil:
				ran.Problems = append(ran.Problems, fmt.Sprintf("the tests of %s: %v", b.Package, err))
			case !done:
				again = append(again, b)
			}
		}
		if len(again) == len(left) && round > 1 { // more time has not helped
			left = again
			break
		}
		left = again
	}
	// Then all packages together.
	for _, b := range left {
		why := "the budget ended"
		if ctx.Err() != nil {
			why = "the audit was interrupted"
		}
		cut := fmt.Sprintf("the tests of %s: %s after %s", b.Package, why,
			finding.OfRuns(a.runsOf(b.Package), o.Settings.Runs))
		took, known := a.plain[b.Package]
		if known {
			cut += fmt.Sprintf("; without noise they take %s", took.Round(time.Millisecond))
		}
		switch {
		case ctx.Err() != nil:
		case known:
			cut += ", and a run with it about three times as long: fewer -runs or a larger -budget lets them end"
		default:
			cut += ", before they had ended once without noise: a larger -budget lets them end"
		}
		ran.Cut = append(ran.Cut, cut)
	}
	var all []*campaign.Result
	for _, p := range a.parts {
		all = append(all, p.Result)
	}
	ran.Result = merge.Results(all)
	for _, b := range o.Built.Binaries {
		if b.Path == "" {
			ran.Result.Packages = append(ran.Result.Packages, campaign.PackageResult{Package: b.Package, NoTests: true})
		}
	}
	ran.Result.Interrupted = ctx.Err() != nil
	ran.Complete = len(left) == 0 && !ran.Result.Interrupted
	return ran, nil
}

// errKeep reports that the state could not be written: then runs would be lost.
var errKeep = errors.New("the state of the audit cannot be kept")

// runsOf returns how many runs of the package's tests are made, and are not to be made again.
func (a *Audit) runsOf(pkg string) (n int) {
	for _, p := range a.parts {
		if p.Package == pkg {
			n += merge.Ran(p.Result)
		}
	}
	return n
}

// runPackage makes the missing runs of a package, and reports whether none is left. The package is the n-th of total;
// share packages, this one included, divide the rest of the time.
func (a *Audit) runPackage(ctx context.Context, o *RunOptions, b build.Binary, n, total, share int) (bool, error) {
	before := a.runsOf(b.Package)
	s := o.Settings
	s.Runs, s.Seed = s.Runs-before, s.Seed+uint64(before)
	if s.Runs <= 0 {
		return true, nil
	}
	// No run begins when the share is over. A single one may take more, but leaves half of the time to the others.
	left := time.Until(o.Deadline)
	over := time.Now().Add(left / time.Duration(share))
	limit := left
	if share > 1 {
		limit = max(left/2, left/time.Duration(share))
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	began := time.Now()
	p := &part{Package: b.Package, name: a.nextPart()}
	var kept error
	keep := func(r *campaign.Result) error {
		if p.Result == nil {
			a.parts = append(a.parts, p)
		}
		p.Result = r
		if err := a.write(p.name, p); err != nil {
			kept = errors.Join(errKeep, err)
		}
		return kept
	}
	s.Tests.Dir = filepath.Join(o.Built.Workspace.Dir, "evidence", p.name)
	s.Tests.NameSkipped = true
	built := *o.Built
	built.Binaries, built.Exact = []build.Binary{b}, nil
	if before == 0 { // one such run of the same tests says it all
		others := func(e build.Binary) bool { return e.Package != b.Package }
		built.Exact = slices.DeleteFunc(slices.Clone(o.Built.Exact), others)
	}
	s.AfterRun = func(r *campaign.Result) campaign.Next {
		so := *r // the campaign goes on with its own
		so.Packages = slices.Clone(r.Packages)
		if keep(&so) != nil || time.Now().After(over) {
			return campaign.Abandon
		}
		return campaign.GoOn
	}
	what := fmt.Sprintf("runs of %s (package %d of %d)", b.Package, n, total)
	s.Progress = func(e campaign.Event) {
		switch {
		case e.Kind == campaign.RunStarted:
			o.Progress.At(before+e.Run-1, before+e.Runs, what)
		case e.Kind == campaign.Measured:
			a.plain[b.Package] = e.Elapsed
		case e.Kind == campaign.PackageDone && s.Verbose:
			o.Progress.Line("run %d of %d, seed %d: %s %s in %s", before+e.Run, before+e.Runs, e.Seed, e.Package, e.Outcome,
				e.Elapsed.Round(time.Millisecond))
		}
	}
	r, err := built.Campaign(ctx, s)
	if kept != nil {
		return false, kept
	}
	if err != nil {
		return false, err
	}
	// A run that was cut off counts only if it has shown something; else it is made again.
	if !r.Interrupted || showsMore(r, p.Result) {
		if err := keep(r); err != nil {
			return false, err
		}
	}
	made := a.runsOf(b.Package)
	o.Progress.Line("package %d of %d: %s: %d of %s, caught: %d, %s", n, total, b.Package, made,
		progress.Count(o.Settings.Runs, "run"), len(r.Findings), time.Since(began).Round(time.Second/10))
	return made >= o.Settings.Runs, nil
}

// showsMore reports whether r has a finding that an earlier state of it, nil if there is none, has not.
func showsMore(r, before *campaign.Result) bool {
	return slices.ContainsFunc(r.Findings, func(f *finding.Finding) bool {
		return before == nil || !slices.ContainsFunc(before.Findings, func(g *finding.Finding) bool { return g.ID == f.ID })
	})
}
