package atomicsets

import (
	"cmp"
	"slices"

	"github.com/interlock-go/interlock/atomicsets/plan"
)

// Stats are the decisions of a plan in numbers.
type Stats struct {
	Sites      int       `json:"sites"`
	Monitored  int       `json:"monitored"`
	Suspicious int       `json:"suspicious"` // of those monitored
	Skipped    []Skipped `json:"skipped"`    // the most frequent reason first
}

// Skipped is the number of sites that one reason skips.
type Skipped struct {
	Reason plan.Reason `json:"reason"`
	Sites  int         `json:"sites"`
}

// Count returns the numbers of p.
func Count(p *plan.Plan) Stats {
	st := Stats{Sites: len(p.Sites), Skipped: []Skipped{}}
	reasons := map[plan.Reason]int{}
	for i := range p.Sites {
		s := &p.Sites[i]
		if s.Decision == plan.Skip {
			reasons[s.Reason]++
			continue
		}
		st.Monitored++
		if s.Suspicious {
			st.Suspicious++
		}
	}
	for reason, n := range reasons {
		st.Skipped = append(st.Skipped, Skipped{reason, n})
	}
	slices.SortFunc(st.Skipped, func(a, b Skipped) int {
		return cmp.Or(cmp.Compare(b.Sites, a.Sites), cmp.Compare(a.Reason, b.Reason))
	})
	return st
}
