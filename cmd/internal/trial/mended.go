package trial

import (
	"fmt"
	"math"
	"slices"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/dynamic/campaign"
	"github.com/interlock-go/interlock/patchgen"
)

// mayBeChance is the chance, of a finding that the patches leave as it was, to stay away from the runs with them, from
// which on nothing is concluded of its absence.
const mayBeChance = 0.05

// noteMended notes which confirmed findings without a patch are gone with the patches of others: a race inside an
// object, say, that the lock around its owner keeps apart too. Their causes have to meet in the stacks, and the runs
// are made once more, with all patches. It is a note and no verdict: runs alone have shown it.
func (d *patcher) noteMended(groups [][]*finding.Finding) error {
	// The findings without a patch, and the patches that they meet.
	meet := map[int][]*finding.Fix{}
	var open []*finding.Finding
	for i, group := range groups {
		if by := d.patchesAt(group, groups); len(by) > 0 {
			meet[i], open = by, append(open, group...)
		}
	}
	if len(open) == 0 || d.trial.alone || d.trial.depth != Full {
		return nil
	}
	// The runs, with the noise on their variables.
	d.trial.group, d.trial.current = open, "all patches"
	d.trial.say("looking whether they correct other findings")
	after, _, err := d.trial.runs(true)
	if err != nil {
		return err
	}
	// Each one that has stayed away, though it came often enough before.
	return d.results.set(func() {
		for i, group := range groups {
			if by := meet[i]; len(by) > 0 && staysAway(group, after) {
				noteMendedBy(group, by)
			}
		}
	})
}

// patchesAt returns the patches in the copy that stand in functions which all stacks of a confirmed group without a
// patch go through.
func (d *patcher) patchesAt(group []*finding.Finding, groups [][]*finding.Finding) (by []*finding.Fix) {
	fix := group[0].Fix
	isConfirmed := func(f *finding.Finding) bool { return f.Status == finding.Confirmed }
	if fix == nil || fix.Withheld == "" || !slices.ContainsFunc(group, isConfirmed) {
		return nil
	}
	for _, other := range groups {
		if patch := other[0].Fix; patch != nil && d.trial.isTaken(patch) && !slices.Contains(by, patch) &&
			meetsStacks(group, functionsOf(other)) {
			by = append(by, patch)
		}
	}
	return by
}

// functionsOf returns the functions that hold the accesses of findings, as the runtime writes them.
func functionsOf(group []*finding.Finding) map[string]bool {
	names := map[string]bool{}
	for _, f := range group {
		for _, a := range f.Accesses {
			if a.Function != "" {
				names[a.Package+"."+a.Function] = true
			}
		}
	}
	return names
}

// meetsStacks reports whether each stack of a confirmed finding of the group goes through one of the functions.
func meetsStacks(group []*finding.Finding, functions map[string]bool) bool {
	isOne := func(f finding.Frame) bool { return functions[f.Name()] }
	through := func(a finding.Access) bool {
		return a.Goroutine != nil && slices.ContainsFunc(a.Goroutine.Stack, isOne)
	}
	return slices.ContainsFunc(group, func(f *finding.Finding) bool {
		return f.Status == finding.Confirmed && len(f.Accesses) > 0 &&
			!slices.ContainsFunc(f.Accesses, func(a finding.Access) bool { return !through(a) })
	})
}

// staysAway reports whether runs that are complete show none of a group, and would have shown one by chance alone.
func staysAway(group []*finding.Finding, after *campaign.Result) bool {
	incomplete := func(p campaign.PackageResult) bool { return p.NotCompleted > 0 || p.Fails() }
	back := func(f *finding.Finding) bool { return patchgen.IsOfGroup(group, f) }
	if slices.ContainsFunc(after.Packages, incomplete) || slices.ContainsFunc(after.Findings, back) {
		return false
	}
	for _, f := range group {
		if e := f.Evidence; f.Status == finding.Confirmed && e != nil && e.Runs > 0 {
			missed := 1 - float64(e.Hits)/float64(e.Runs)
			return math.Pow(missed, float64(after.Runs)) < mayBeChance
		}
	}
	return false
}

// noteMendedBy writes the notes, at the group and at each of the patches.
func noteMendedBy(group []*finding.Finding, by []*finding.Fix) {
	f := group[slices.IndexFunc(group, func(f *finding.Finding) bool { return f.Status == finding.Confirmed })]
	for _, patch := range by {
		patch.Notes = append(patch.Notes, fmt.Sprintf("runs with all patches do not show %s for %s any more: this one "+
			"stands where that goes through (%s)", f.Code, f.Variable, f.ID))
	}
	f.Fix.Notes = append(f.Fix.Notes, fmt.Sprintf("runs with the other patches do not show it any more; without them it "+
		"was seen in %s", finding.OfRuns(f.Evidence.Hits, f.Evidence.Runs)))
}
