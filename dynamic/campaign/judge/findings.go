package judge

import (
	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/dynamic/campaign/run"
)

// Findings makes a confirmed finding of each pair caught, and a finding of each
// section split, and adds the races of the happens-before engine, if it was asked; claims holds, by
// the id of a section, the id of the suspected finding that it came from.
func (t *Tally) Findings(
	cfg *run.Settings, pkgs []run.Package, e *Unordered,
) (all []*finding.Finding, claims map[string]string) {
	plain := map[string]*run.Package{}
	for i := range pkgs {
		plain[pkgs[i].Package] = &pkgs[i]
	}
	// A race did harm if tests failed in a run that showed it, and pass without noise.
	for _, race := range t.races() {
		f := t.raceFinding(cfg, race)
		for _, p := range race {
			for pkg := range t.caught[p].failed {
				f.Evidence.Harmful = f.Evidence.Harmful || plain[pkg] != nil && plain[pkg].Plain == run.Passed
			}
		}
		all = append(all, f)
	}
	if e != nil {
		all = e.WithPredicted(WithUnordered(all, e.Findings()), pkgs)
	}
	// Errors at a race add to its finding, so races come first.
	all = append(all, t.endedBy(cfg, all)...)
	deadlocks := t.deadlocked(cfg, pkgs)
	all = append(all, deadlocks...)
	all = append(all, t.blockedForEver(cfg, deadlocks, pkgs)...)
	// Findings have no ids before they are sealed, by which the claims are kept.
	claimed := map[*finding.Finding]string{}
	for _, id := range t.SectionsSplit() {
		section := t.Section(id)
		f := t.sectionFinding(cfg, section, t.Splits[id], plain)
		if (section.Lead || t.Splits[id].best.split.Serial) && f.Status != finding.Confirmed {
			continue // nobody has suspected it, or each split was harmless; and nothing has come of it
		}
		claimed[f] = section.Finding
		all = append(all, f)
	}
	all = t.withIsolated(cfg, all)
	if e != nil {
		all = e.WithSplits(all)
	}
	finding.Sort(all)
	finding.Seal(all)
	claims = map[string]string{}
	for f, claim := range claimed {
		claims[f.ID] = claim
	}
	return all, claims
}
