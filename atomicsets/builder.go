package atomicsets

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/atomicsets/plan"
)

// SkipSite is a static decision: the site at the place needs no monitor. A
// place without its end counts only where one site starts there.
type SkipSite struct {
	Key    plan.Key
	Reason plan.Reason
}

// Suspicion is a static finding's claim that two accesses race. Both sides
// are the same access where the code races with itself.
type Suspicion struct {
	Finding string // id of the finding
	A, B    plan.Key
}

// Suspicions takes the claims out of findings: each pair of accesses that
// conflict.
func Suspicions(findings []*finding.Finding) []Suspicion {
	var all []Suspicion
	for _, f := range findings {
		if len(f.Accesses) == 1 {
			all = append(all, Suspicion{f.ID, keyOfAccess(f.Accesses[0]), keyOfAccess(f.Accesses[0])})
		}
		for i, a := range f.Accesses {
			for _, b := range f.Accesses[i+1:] {
				if finding.Conflicts(a.Mode, b.Mode) {
					all = append(all, Suspicion{f.ID, keyOfAccess(a), keyOfAccess(b)})
				}
			}
		}
	}
	return all
}

func keyOfAccess(a finding.Access) plan.Key {
	mode := plan.Read
	switch a.Mode {
	case finding.Write, finding.AtomicWrite, finding.CloseChan:
		mode = plan.Write
	case finding.Add:
		mode = plan.AtomicWrite
	}
	return plan.Key{File: a.File, Line: a.Line, Column: a.Column, Mode: mode, EndLine: a.EndLine, EndCol: a.EndColumn}
}

// Build makes the plan of a module. Sites get dense ids in an order that only
// depends on the source; a site that comes twice counts once. Decisions that
// sites bring along stay, all others are monitored unless skips name them.
// A site that a suspicion names is armed first, and is never skipped: the
// passes disagree about it, and a run will tell.
func Build(module string, sites []plan.Site, skips []SkipSite, suspicions []Suspicion) (*plan.Plan, error) {
	p := &plan.Plan{Version: plan.SchemaVersion, Module: module, Sites: slices.Clone(sites)}
	slices.SortStableFunc(p.Sites, compareSites)
	p.Sites = slices.CompactFunc(p.Sites, func(a, b plan.Site) bool { return compareSites(a, b) == 0 })
	for i := range p.Sites {
		p.Sites[i].ID = uint32(i + 1)
	}
	decide(p, skips)
	suspect(p, suspicions)
	if err := p.Validate(); err != nil {
		return nil, fmt.Errorf("building the plan of %s: %w", module, err)
	}
	return p, nil
}

// compareSites is total on distinct sites. The places come first, so that ids run
// with the text.
func compareSites(a, b plan.Site) int {
	return cmp.Or(
		cmp.Compare(a.Package, b.Package),
		cmp.Compare(a.File, b.File),
		cmp.Compare(a.Line, b.Line),
		cmp.Compare(a.Column, b.Column),
		cmp.Compare(a.Mode, b.Mode),
		cmp.Compare(a.Variable.Kind, b.Variable.Kind),
		cmp.Compare(a.EndLine, b.EndLine),
		cmp.Compare(a.EndCol, b.EndCol),
		cmp.Compare(a.Expr, b.Expr),
		cmp.Compare(behind(a), behind(b)),
	)
}

func behind(s plan.Site) int {
	if s.Behind {
		return 1
	}
	return 0
}

func decide(p *plan.Plan, skips []SkipSite) {
	for i := range p.Sites {
		if s := &p.Sites[i]; s.Decision != plan.Skip {
			s.Decision, s.Reason = plan.Monitor, ""
		}
	}
	at := newIndex(p)
	for _, skip := range skips {
		if sites := at.keys[skip.Key]; len(sites) == 1 && sites[0].Decision == plan.Monitor {
			sites[0].Decision, sites[0].Reason = plan.Skip, skip.Reason
		}
	}
}

func suspect(p *plan.Plan, suspicions []Suspicion) {
	at := newIndex(p)
	seen := map[plan.Pair]bool{}
	for _, s := range suspicions {
		for _, a := range at.findSites(s.A) {
			for _, b := range at.findSites(s.B) {
				pair := plan.Pair{A: min(a.ID, b.ID), B: max(a.ID, b.ID), Finding: s.Finding}
				if a.Variable != b.Variable || seen[pair] {
					continue
				}
				seen[pair] = true
				p.Pairs = append(p.Pairs, pair)
				markSuspicious(a)
				markSuspicious(b)
			}
		}
	}
}

// proofs are the reasons of passes, which a finding may contradict.
var proofs = map[plan.Reason]bool{
	plan.Fresh: true, plan.WholeLocal: true, plan.WholeNotParallel: true, plan.WholeStationary: true,
}

// markSuspicious marks a site as suspicious. Sites that cannot be rewritten stay as
// they are.
func markSuspicious(s *plan.Site) {
	if s.Decision == plan.Skip && proofs[s.Reason] {
		s.Decision, s.Reason = plan.Monitor, ""
	}
	s.Suspicious = s.Decision == plan.Monitor
}

// line is a place as precisely as a pass that reports another column of the
// same expression has it.
type line struct {
	file string
	line int
	mode plan.Mode
}

// index finds sites by their keys, with and without their ends, and by lines.
type index struct {
	keys  map[plan.Key][]*plan.Site
	lines map[line][]*plan.Site
}

func newIndex(p *plan.Plan) index {
	at := index{map[plan.Key][]*plan.Site{}, map[line][]*plan.Site{}}
	for i := range p.Sites {
		s := &p.Sites[i]
		k, l := s.Key(), line{s.File, s.Line, s.Mode}
		at.keys[k] = append(at.keys[k], s)
		// No pass speaks of elements; that of p.s[i] must not be taken for p.s.
		if start := k.Start(); start != k && s.Variable.Kind != plan.KindElement {
			at.keys[start] = append(at.keys[start], s)
		}
		at.lines[l] = append(at.lines[l], s)
	}
	return at
}

// findSites returns the sites that a place may mean, the variable and the map in it
// alike: those exactly there, or else those that start there, or else all of
// that mode in the line.
func (at index) findSites(k plan.Key) []*plan.Site {
	for _, k := range []plan.Key{k, k.Start()} {
		m := k
		m.Map = true
		if found := slices.Concat(at.keys[k], at.keys[m]); len(found) > 0 {
			return found
		}
	}
	return at.lines[line{k.File, k.Line, k.Mode}]
}
