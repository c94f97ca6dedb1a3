package judge

import (
	"cmp"
	"slices"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/atomicsets/plan"
)

// FirstSides returns, by the id of each race found, the first two accesses in the source of its two functions that
// conflict. Those that the plan skips count as well, as its reasons may change without the race.
func FirstSides(p *plan.Plan, found []*finding.Finding) map[string][]finding.Side {
	all := map[string][]finding.Side{}
	for _, f := range found {
		if e := f.Evidence; e == nil || e.Pattern != "" || e.Error != "" || e.Blocked != "" || len(f.Accesses) != 2 {
			continue
		}
		// Which access comes first depends on the places that have met.
		accesses := slices.SortedFunc(slices.Values(f.Accesses), func(a, b finding.Access) int {
			return cmp.Or(cmp.Compare(a.Package, b.Package), cmp.Compare(a.Function, b.Function))
		})
		a, b := sitesIn(p, &accesses[0], f.Variable), sitesIn(p, &accesses[1], f.Variable)
		if sides := conflicting(a, b); sides != nil {
			all[f.ID] = sides
		}
	}
	return all
}

// sitesIn returns the sites at which the function of an access accesses v, in their order.
func sitesIn(p *plan.Plan, a *finding.Access, v finding.Variable) (sites []*plan.Site) {
	v.Kind = ""
	for i := range p.Sites {
		s := &p.Sites[i]
		on := s.Variable
		on.Kind = ""
		if s.Package != a.Package || s.Function != a.Function {
			continue
		}
		if finding.Variable(on) == v || isWhole(on, plan.Variable(v)) {
			sites = append(sites, s)
		}
	}
	return sites
}

// conflicting returns the sides of the first two sites that race if nothing orders them, or nil.
func conflicting(as, bs []*plan.Site) []finding.Side {
	for _, a := range as {
		for _, b := range bs {
			if finding.Conflicts(siteMode(a), siteMode(b)) {
				return []finding.Side{{Function: a.Function, Expr: a.Expr}, {Function: b.Function, Expr: b.Expr}}
			}
		}
	}
	return nil
}
