package atomicsets

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/atomicsets/plan"
)

// wholeSkips returns the sites that need no monitor, for all that is known of
// the whole program.
func wholeSkips(verdicts []plan.Verdict) []SkipSite {
	var skips []SkipSite
	for i := range verdicts {
		if reason := verdicts[i].Reason; reason != "" {
			skips = append(skips, SkipSite{verdicts[i].Site.Key(), reason})
		}
	}
	return skips
}

// monitoredPart is the number of always guarded variables of which one stays
// monitored.
const monitoredPart = 10

// pruneGuarded leaves out the sites at the places that static passes hold to be always guarded. It comes last,
// when p has its suspicions and sections: their sites stay. So do all sites of a tenth of the variables, which
// turn chooses: another tenth each time that it grows by one.
func pruneGuarded(p *plan.Plan, guarded []plan.Key, turn uint64) {
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

// Withdraw separates the findings that stay from those that the whole program
// refutes: data races and split sections where at least one of each two
// conflicting accesses cannot meet any other, nor can the same function's further
// accesses to the variable, for which it stands. Without verdicts all stay.
func Withdraw(findings []*finding.Finding, verdicts []plan.Verdict) (stay, withdrawn []*finding.Finding) {
	j := newJudge(verdicts)
	for _, f := range findings {
		if onAccesses(f.Code) && j.refutes(f) {
			withdrawn = append(withdrawn, f)
		} else {
			stay = append(stay, f)
		}
	}
	return stay, withdrawn
}

// onAccesses reports whether findings with the code are about accesses; others
// are about locks and channels.
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

func newJudge(verdicts []plan.Verdict) *judge {
	p, j := &plan.Plan{}, &judge{safe: map[plan.Key]bool{}, unsafe: map[use]bool{}}
	for i := range verdicts {
		v := &verdicts[i]
		p.Sites = append(p.Sites, v.Site)
		if v.Reason != "" {
			j.safe[v.Site.Key()] = true
		} else {
			j.unsafe[useOfSite(&v.Site)] = true
		}
	}
	j.at = newIndex(p)
	return j
}

func useOfSite(s *plan.Site) use { return use{s.Package, s.Function, s.Variable} }

func (j *judge) refutes(f *finding.Finding) bool {
	if len(f.Accesses) == 1 {
		return j.meetsNone(f.Accesses[0])
	}
	for i, a := range f.Accesses {
		for _, b := range f.Accesses[i+1:] {
			if finding.Conflicts(a.Mode, b.Mode) && !j.meetsNone(a) && !j.meetsNone(b) {
				return false
			}
		}
	}
	return slices.ContainsFunc(f.Accesses, j.meetsNone)
}

// meetsNone reports whether the access, and its function's others to the variable,
// meet none of another goroutine.
func (j *judge) meetsNone(a finding.Access) bool {
	found := j.at.findSites(keyOfAccess(a))
	return len(found) > 0 && !slices.ContainsFunc(found, func(s *plan.Site) bool {
		return !j.safe[s.Key()] || j.unsafe[useOfSite(s)]
	})
}
