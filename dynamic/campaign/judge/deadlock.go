package judge

import (
	"slices"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/userpath"
	"github.com/interlock-go/interlock/dynamic/campaign/run"
)

// deadlocked makes a finding of each deadlock by the program's own locks, and of each possible one by the evidence of
// a package's runs.
func (t *Tally) deadlocked(cfg *run.Settings, pkgs []run.Package) (all []*finding.Finding) {
	name := func(g *finding.Goroutine) { userpath.Goroutine(cfg.Workspace, g) }
	for _, found := range t.Deadlocks.Findings(name) {
		again := func(seen *Tally) bool { return seen.Deadlocks.Has(found.Name) }
		stood := t.Stood[found.Name]
		t.replays(cfg, found.Strength, nil, found.Finding, again, stood...)
		found.Evidence.Runs = max(t.runsOf(found.Evidence.Test), found.Evidence.Hits)
		countTried(pkgs, found.Finding, found.Last, append(stood, TestOf(found.Finding))...)
		all = append(all, found.Finding)
	}
	for i := range pkgs {
		for _, f := range t.Deadlocks.Predicted(pkgs[i].Locks.Predicted(), pkgs[i].Package, name) {
			f.Evidence.Runs = max(t.runsOf(f.Evidence.Test), f.Evidence.Hits)
			all = append(all, f)
		}
	}
	return all
}

// countTried corrects n of a finding of goroutines that wait for ever, seen in k of n runs: those that have left its
// tests out did not try. last is the last run that has shown it.
func countTried(pkgs []run.Package, f *finding.Finding, last int, tests ...string) {
	for i := range pkgs {
		out := func(test string) bool { return slices.Contains(pkgs[i].LeftOut, test) }
		if pkgs[i].Package == f.Evidence.Test && slices.ContainsFunc(tests, out) {
			f.Evidence.Runs = max(min(f.Evidence.Runs, last), f.Evidence.Hits)
		}
	}
}
