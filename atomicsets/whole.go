package atomicsets

import (
	"slices"
	"strings"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/atomicsets/plan"
	"github.com/interlock-go/interlock/pointsto"
)

// WholeSkips gives the sites that need no monitor, for all that is known of
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

// Withdraw tells apart the findings that stay and those that the whole program
// refutes: data races and split sections none of whose accesses two goroutines
// can make at the same time on one object.
func Withdraw(findings []*finding.Finding, sites []pointsto.Site) (stay, withdrawn []*finding.Finding) {
	p := &plan.Plan{}
	safe := map[plan.Key]bool{}
	for i := range sites {
		p.Sites = append(p.Sites, sites[i].Site)
		safe[sites[i].Key()] = sites[i].Verdict.Reason() != ""
	}
	at := newIndex(p)
	for _, f := range findings {
		if onAccesses(f.Code) && allSafe(f, at, safe) {
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

func allSafe(f *finding.Finding, at index, safe map[plan.Key]bool) bool {
	for _, a := range f.Accesses {
		found := at.find(key(a))
		if len(found) == 0 || slices.ContainsFunc(found, func(s *plan.Site) bool { return !safe[s.Key()] }) {
			return false
		}
	}
	return len(f.Accesses) > 0
}
