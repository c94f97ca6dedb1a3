// Package merge makes one result of several campaigns: of different packages, or of one package with
// other seeds, as an audit makes them that was interrupted. It is pure, and takes time by the findings.
package merge

import (
	"cmp"
	"maps"
	"slices"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/dynamic/campaign"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/join"
)

// Results makes one result of those of campaigns with one plan, in the order in which they were made. No
// two of them may have made the same run: their counts are added. The results given are not changed.
func Results(parts []*campaign.Result) *campaign.Result {
	all := &campaign.Result{Known: join.Known{
		RunsOf: map[string]int{}, Lines: map[join.Line]bool{}, Claims: map[string]string{}, Whole: map[string]int{},
		Sides: map[string][]finding.Side{}, Waited: map[join.Line]bool{},
	}}
	packages, counted := map[string]int{}, map[string]int{}
	var found []*finding.Finding
	for i, p := range parts {
		if i == 0 {
			all.Engine, all.Seed, all.Timeout = p.Engine, p.Seed, p.Timeout
			all.Coverage.Never = p.Coverage.Never
		}
		// How the tests went, by package. Runs count from 1 in each part.
		before := map[string]int{}
		for _, pkg := range p.Packages {
			counted[pkg.Package] += p.Counted
			at, known := packages[pkg.Package]
			if !known {
				packages[pkg.Package] = len(all.Packages)
				all.Packages = append(all.Packages, pkg)
			} else {
				before[pkg.Package] = all.Packages[at].Runs
				add(&all.Packages[at], &pkg)
			}
		}
		for _, f := range p.Findings {
			found = addFinding(found, f, before)
		}
		// The coverage of the runs.
		all.Exact, all.Forgot, all.Partly = all.Exact+p.Exact, all.Forgot+p.Forgot, all.Partly+p.Partly
		all.Coverage.Monitored = max(all.Coverage.Monitored, p.Coverage.Monitored)
		all.Coverage.Reached = union(all.Coverage.Reached, p.Coverage.Reached)
		all.Coverage.Armed = union(all.Coverage.Armed, p.Coverage.Armed)
		all.Coverage.Never = intersection(all.Coverage.Never, p.Coverage.Never)
		all.Sections, all.Ended = max(all.Sections, p.Sections), union(all.Ended, p.Ended)
		all.Counters.Add(&p.Counters)
		all.Problems = append(all.Problems, p.Problems...)
		maps.Copy(all.Known.Lines, p.Known.Lines)
		maps.Copy(all.Known.Waited, p.Known.Waited)
		all.Known.Met = append(all.Known.Met, p.Known.Met...)
		maps.Copy(all.Known.Claims, p.Known.Claims)
		maps.Copy(all.Known.Sides, p.Known.Sides)
		for _, test := range p.Known.LeftOut {
			if !slices.Contains(all.Known.LeftOut, test) {
				all.Known.LeftOut = append(all.Known.LeftOut, test)
			}
		}
		for id, n := range p.Known.Whole {
			all.Known.Whole[id] += n
		}
	}
	for _, pkg := range all.Packages {
		if !pkg.NoTests {
			all.Known.RunsOf[pkg.Package] = pkg.Runs
			all.Runs, all.Counted = max(all.Runs, pkg.Runs), max(all.Counted, counted[pkg.Package])
		}
	}
	finding.Sort(found)
	all.Findings = found
	return all
}

// addFinding puts a finding into the list, or its evidence into that of the same finding. before says how many
// runs of a package came before those of the finding.
func addFinding(all []*finding.Finding, f *finding.Finding, before map[string]int) []*finding.Finding {
	c := *f
	if f.Evidence != nil {
		e := *f.Evidence
		e.Run += before[e.Test]
		c.Evidence = &e
	}
	i := slices.IndexFunc(all, func(g *finding.Finding) bool { return g.ID == f.ID })
	switch {
	case i < 0:
		return append(all, &c)
	case c.Status == finding.Confirmed && all[i].Status != finding.Confirmed:
		all[i] = &c // proven since
		return all
	case c.Status != all[i].Status || c.Evidence == nil || all[i].Evidence == nil:
		return all
	}
	// The same has happened again: the first run that showed it stays.
	e := all[i].Evidence
	e.Runs, e.Hits, e.Count = e.Runs+c.Evidence.Runs, e.Hits+c.Evidence.Hits, e.Count+c.Evidence.Count
	e.Harmful, e.Changed = e.Harmful || c.Evidence.Harmful, e.Changed || c.Evidence.Changed
	if e.ReplayRuns == 0 && c.Evidence.ReplayRuns > 0 {
		e.Replay, e.ReplayHits, e.ReplayRuns = c.Evidence.Replay, c.Evidence.ReplayHits, c.Evidence.ReplayRuns
	}
	return all
}

// add adds how the tests of a package went in further runs.
func add(into, p *campaign.PackageResult) {
	into.First = cmp.Or(into.First, later(p.First, into.Runs))
	into.Alike = cmp.Or(into.Alike, later(p.Alike, into.Runs))
	into.UnderNoiseFirst = cmp.Or(into.UnderNoiseFirst, later(p.UnderNoiseFirst, into.Runs))
	into.FirstCut = cmp.Or(into.FirstCut, later(p.FirstCut, into.Runs))
	into.PlainFailure = cmp.Or(into.PlainFailure, p.PlainFailure)
	into.ExactFailure = cmp.Or(into.ExactFailure, p.ExactFailure)
	into.SeenExactly = cmp.Or(into.SeenExactly, p.SeenExactly)
	if into.Plain == campaign.Passed || into.Plain == "" {
		into.Plain = p.Plain
	}
	into.PlainTime, into.Limit = max(into.PlainTime, p.PlainTime), max(into.Limit, p.Limit)
	into.Runs, into.Failures = into.Runs+p.Runs, into.Failures+p.Failures
	into.UnderNoise, into.NotCompleted = into.UnderNoise+p.UnderNoise, into.NotCompleted+p.NotCompleted
	into.Strength = cmp.Or(p.Strength, into.Strength)
	into.NoneRan = into.NoneRan && p.NoneRan
	into.Tests, into.Spared = union(into.Tests, p.Tests), union(into.Spared, p.Spared)
	into.Unexplained = append(into.Unexplained[:len(into.Unexplained):len(into.Unexplained)], p.Unexplained...)
	into.LeftOut, into.Skipped = union(into.LeftOut, p.LeftOut), union(into.Skipped, p.Skipped)
}

// later returns a failure as it is numbered behind the runs before.
func later(f *campaign.Failure, before int) *campaign.Failure {
	if f == nil {
		return nil
	}
	moved := *f
	moved.Run += before
	return &moved
}

// union returns the elements of a or b, in order, each once.
func union[T cmp.Ordered](a, b []T) []T {
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}

// intersection returns the elements of both a and b, which are sorted.
func intersection(a, b []uint32) []uint32 {
	return slices.DeleteFunc(slices.Clone(a), func(id uint32) bool {
		_, found := slices.BinarySearch(b, id)
		return !found
	})
}

// Ran returns how many seeds a part has used up, from its first: with one more for a run that was cut off. The evidence
// of such a run counts too, so nobody makes it again.
func Ran(p *campaign.Result) int {
	if p.Interrupted {
		return p.Runs + 1
	}
	return p.Runs
}
