package atomicsets

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/atomicsets/plan"
	"github.com/interlock-go/interlock/pointsto"
)

// WholeSkips returns the sites that need no monitor, for all that is known of
// the whole program.
func WholeSkips(sites []pointsto.Site) []SkipSite {
	var skips []SkipSite
	for i := range sites {
		if reason := sites[i].Verdict.Reason(); reason != "" {
			skips = append(skips, SkipSite{sites[i].Key(), reason})
		}
	}
	return skips
}

// monitoredPart: of so many variables that are always guarded one stays monitored.
const monitoredPart = 10

// PruneGuarded leaves out the sites at the places that static passes hold to be
// always guarded. It comes last, when p has its suspicions and sections: what
// these speak of stays. So do all sites of a tenth of the variables, which turn
// chooses: another tenth each time that it grows by one.
func PruneGuarded(p *plan.Plan, guarded []plan.Key, turn uint64) {
	inSections := map[plan.Variable]bool{}
	for i := range p.Sections {
		for _, v := range p.Sections[i].Variables {
			inSections[v] = true
		}
	}
	at := newIndex(p)
	for _, k := range guarded {
		sites := at.keys[k]
		if len(sites) != 1 {
			continue
		}
		s := sites[0]
		if s.Decision == plan.Monitor && !s.Suspicious && !inSections[s.Variable] && !hasTurn(s.Variable, turn) {
			s.Decision, s.Reason = plan.Skip, plan.Guarded
		}
	}
}

func hasTurn(v plan.Variable, turn uint64) bool {
	h := fnv.New32a()
	fmt.Fprintf(h, "%s %s %s", v.Package, v.Type, v.Name)
	return (uint64(h.Sum32())+turn)%monitoredPart == 0
}

// Withdraw tells apart the findings that stay and those that the whole program
// refutes: data races and split sections of whose conflicting accesses at least
// one cannot meet any other, nor can the same function's further accesses to
// the variable, for which it stands.
func Withdraw(findings []*finding.Finding, sites []pointsto.Site) (stay, withdrawn []*finding.Finding) {
	j := newJudge(sites)
	for _, f := range findings {
		if onAccesses(f.Code) && j.refutes(f) {
			withdrawn = append(withdrawn, f)
		} else {
			stay = append(stay, f)
		}
	}
	return stay, withdrawn
}

// onAccesses: findings with other codes are about locks and channels.
func onAccesses(c finding.Code) bool {
	return strings.HasPrefix(string(c), "IL1") || strings.HasPrefix(string(c), "IL2")
}

// judge knows which sites are safe: no two goroutines meet there.
type judge struct {
	at     index
	safe   map[plan.Key]bool
	unsafe map[use]bool
}

// use is all that a function does with a variable.
type use struct {
	pkg, function string
	variable      plan.Variable
}

func newJudge(sites []pointsto.Site) *judge {
	p, j := &plan.Plan{}, &judge{safe: map[plan.Key]bool{}, unsafe: map[use]bool{}}
	for i := range sites {
		s := &sites[i]
		p.Sites = append(p.Sites, s.Site)
		if s.Verdict.Reason() != "" {
			j.safe[s.Key()] = true
		} else {
			j.unsafe[useOf(&s.Site)] = true
		}
	}
	j.at = newIndex(p)
	return j
}

func useOf(s *plan.Site) use { return use{s.Package, s.Function, s.Variable} }

func (j *judge) refutes(f *finding.Finding) bool {
	if len(f.Accesses) == 1 {
		return j.alone(f.Accesses[0])
	}
	for i, a := range f.Accesses {
		for _, b := range f.Accesses[i+1:] {
			if finding.Conflicts(a.Mode, b.Mode) && !j.alone(a) && !j.alone(b) {
				return false
			}
		}
	}
	return slices.ContainsFunc(f.Accesses, j.alone)
}

// alone reports whether the access, and its function's others to the variable,
// meet none of another goroutine.
func (j *judge) alone(a finding.Access) bool {
	found := j.at.find(key(a))
	return len(found) > 0 && !slices.ContainsFunc(found, func(s *plan.Site) bool { return !j.safe[s.Key()] || j.unsafe[useOf(s)] })
}
