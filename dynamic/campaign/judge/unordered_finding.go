package judge

import (
	"fmt"
	"go/types"
	"maps"
	"path"
	"slices"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/atomicsets/plan"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/operation"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/stacktext"
	"github.com/interlock-go/interlock/dynamic/campaign/run"
)

// Findings makes a finding of each race.
func (e *Unordered) Findings() []*finding.Finding {
	var all []*finding.Finding
	for _, key := range slices.SortedFunc(maps.Keys(e.Races), exactKey.compare) {
		f := e.finding(e.Races[key])
		e.seen.Shown = append(e.seen.Shown, Shown{f, e.replayOf(f), func(seen *Tally) bool { return seen.Unordered[key] }})
		all = append(all, f)
	}
	return all
}

// Pairs returns the pairs of sites that the races are between, as far as the plan knows them: runs after
// them have nothing to add.
func (e *Unordered) Pairs() (all []run.Pair) {
	if e == nil {
		return nil
	}
	for _, r := range e.Races {
		all = append(all, e.pairsOf(r)...)
	}
	slices.SortFunc(all, run.ComparePairs)
	return slices.Compact(all)
}

// pairsOf returns the pairs of sites of one race.
func (e *Unordered) pairsOf(r *exactRace) (all []run.Pair) {
	a, b := e.sitesOf(&r.sides[0]), e.sitesOf(&r.sides[1])
	v, known := sharedVariable(a, b)
	if !known {
		return nil
	}
	for _, s := range a {
		for _, t := range b {
			if s.Variable == v && t.Variable == v || synchronises(v) {
				all = append(all, run.MakePair(s.ID, t.ID))
			}
		}
	}
	return all
}

// WithUnordered adds races that the happens-before engine has shown to those caught at the same moment. Of one
// that both have shown, the latter stays, which has a rate and a harm. If the engine has forgotten the earlier access
// of a race, it may be any other race of the later access: it is a note on one of them.
func WithUnordered(caught, unordered []*finding.Finding) []*finding.Finding {
	all := caught
	var half []*finding.Finding
	for _, u := range unordered {
		i := slices.IndexFunc(caught, func(c *finding.Finding) bool { return sharedLines(c, u) == 2 })
		switch {
		case i >= 0:
			caught[i].Notes = append(caught[i].Notes,
				"a run under the happens-before engine has shown that nothing orders the two")
		case slices.ContainsFunc(u.Accesses, func(a finding.Access) bool { return a.File == unknownFile }):
			half = append(half, u)
		default:
			all = append(all, u)
		}
	}
	for _, u := range half {
		i := slices.IndexFunc(all, func(f *finding.Finding) bool { return sharedLines(f, u) > 0 })
		if i < 0 {
			all = append(all, u)
			continue
		}
		all[i].Notes = append(all[i].Notes, "a run under the happens-before engine has shown that one of the two is "+
			"unordered with another access, whose place was forgotten")
	}
	return all
}

// sharedLines returns how many lines of race a are lines of race b as well, each counted once.
func sharedLines(a, b *finding.Finding) (n int) {
	at := func(f *finding.Finding, i int) place { return place{f.Accesses[i].File, f.Accesses[i].Line} }
	straight, crossed := 0, 0
	for i := range 2 {
		if at(a, i) == at(b, i) {
			straight++
		}
		if at(a, i) == at(b, 1-i) {
			crossed++
		}
	}
	return max(straight, crossed)
}

func (e *Unordered) finding(r *exactRace) *finding.Finding {
	a, b := e.sitesOf(&r.sides[0]), e.sitesOf(&r.sides[1])
	v, known := sharedVariable(a, b)
	// The later access in the text comes first, so that the same race reads the same each time.
	calls := [2]operation.Operation{e.called(&r.sides[1]), e.called(&r.sides[0])}
	unnamed := !known && v.Name == ""
	if unnamed {
		v, unnamed = sameOperand(calls, r)
	}
	what := finding.Variable(v).String()
	if unnamed {
		f := r.sides[1].frame
		v.Package, _ = stacktext.SplitName(f.Function)
		v.Name, v.Kind = finding.MemoryAt(path.Base(f.File), f.Line), r.sides[1].kind
		what = v.Name
	}
	accesses := []finding.Access{e.access(&r.sides[1], b, v), e.access(&r.sides[0], a, v)}
	for i := range accesses {
		if op := calls[i]; accesses[i].Column == 0 && op.Node != nil {
			accesses[i].Column, accesses[i].Expr = op.Column(), types.ExprString(op.Operand)
		}
	}
	f := &finding.Finding{
		Code: raceCode(v.Kind), Status: finding.Confirmed,
		Title: fmt.Sprintf("%s on %s: %s and %s that nothing orders",
			raceName(v.Kind), what, accesses[0].Mode, accesses[1].Mode),
		Variable: finding.Variable(v), Accesses: accesses,
		Message: fmt.Sprintf("Goroutine %d made the first access and goroutine %d the second, and no lock, channel or "+
			"other synchronisation orders the two: either may come first, or both at once.",
			accesses[0].Goroutine.ID, accesses[1].Goroutine.ID),
		Evidence: &finding.Evidence{
			Engine: e.cfg.Engine.Name(), Run: r.run, Runs: e.Runs, Hits: len(r.hits), Count: r.count, Seed: r.seed,
			Test: r.test,
		},
	}
	again := e.replayOf(f)
	f.Evidence.Replay = again.Command(e.cfg)
	f.Notes = copies(v, slices.Concat(a, b)...)
	if calls[0].Node != nil && calls[1].Node != nil {
		f.Notes = append(f.Notes, fmt.Sprintf("both are made in functions called there: %s and %s",
			r.sides[1].goroutine.Stack[0].Function, r.sides[0].goroutine.Stack[0].Function))
	}
	return f
}

// access returns a side as a finding has it: with the plan's facts about the access, if only one site of the variable
// fits.
func (e *Unordered) access(s *exactSide, sites []*plan.Site, v plan.Variable) finding.Access {
	sites = slices.DeleteFunc(slices.Clone(sites), func(site *plan.Site) bool {
		return site.Variable != v && !isWhole(site.Variable, v) && !synchronises(v)
	})
	f := s.frame
	a := finding.Access{
		Position: finding.Position{File: f.File, Line: f.Line}, Expr: v.Name, Mode: s.mode,
	}
	a.Package, a.Function = stacktext.SplitName(f.Function)
	if len(sites) > 0 {
		site := sites[0]
		a.Package, a.Function, a.Expr, a.Source = site.Package, site.Function, site.Expr, site.Source
		a.Column, a.EndLine, a.EndColumn = site.Column, site.EndLine, site.EndCol
	}
	if s.op != "" {
		a.Mode = s.op
	}
	a.Goroutine = &s.goroutine
	if created := s.goroutine.Created; len(created) > 0 {
		a.Role = fmt.Sprintf("goroutine started at %s:%d", created[0].File, created[0].Line)
	}
	return a
}
