package join

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/analyzers/finding"
)

// combineOrders makes one finding of all deadlocks by the same locks. It is chance which of the functions that acquire
// them have met, and one order in all of them is the correction. A deadlock that a suspected cycle has foreseen
// comes first, then the one seen most often; the others are notes on it.
func combineOrders(static, found []*finding.Finding) []*finding.Finding {
	groups := map[string][]*finding.Finding{}
	for _, c := range found {
		if key := locksOf(c); key != "" && c.Code == finding.LockCycle && c.Evidence != nil {
			groups[key] = append(groups[key], c)
		}
	}
	// A finding with a suspicion comes first, so that both have its words.
	rank := func(c *finding.Finding) int {
		foreseen := func(s *finding.Finding) bool { return len(s.Cycle) > 0 && passesAll(c, s.Cycle) }
		switch {
		case c.Status != finding.Confirmed:
			return 2
		case !slices.ContainsFunc(static, foreseen):
			return 1
		}
		return 0
	}
	return slices.DeleteFunc(found, func(c *finding.Finding) bool {
		group := groups[locksOf(c)]
		if len(group) < 2 || !slices.Contains(group, c) {
			return false
		}
		first := slices.MinFunc(group, func(a, b *finding.Finding) int {
			return cmp.Or(cmp.Compare(rank(a), rank(b)), -cmp.Compare(a.Evidence.Hits, b.Evidence.Hits))
		})
		if c == first {
			c.Ordinal = 0
			c.ID = c.ComputeID()
			return false
		}
		first.Notes = append(first.Notes, alsoInOrder(c))
		return true
	})
}

// locksOf names the locks of a cycle, each once; "" where there is none.
func locksOf(f *finding.Finding) string {
	var locks []string
	for _, e := range f.Cycle {
		locks = append(locks, e.From)
	}
	slices.Sort(locks)
	return strings.Join(slices.Compact(locks), "\x00")
}

// alsoInOrder returns a sentence on a further deadlock by the locks of a finding.
func alsoInOrder(c *finding.Finding) string {
	var places []string
	for _, e := range c.Cycle {
		places = append(places, fmt.Sprintf("%s at %s:%d", e.Function, e.Position.File, e.Position.Line))
	}
	where := strings.Join(places, " and ")
	if c.Status != finding.Confirmed {
		return "predicted for the same locks: " + where
	}
	return fmt.Sprintf("the same locks in %s: %s", finding.OfRuns(c.Evidence.Hits, c.Evidence.Runs), where)
}

// combineWaits makes one finding of a wait that a check has foreseen and of those for it, where a run has shown
// both: the accesses of the former name the places of the latter.
//
//	for range p.jobs {}	nobody closes jobs
//	p.wg.Wait()		waits for that goroutine
func combineWaits(joined []*finding.Finding, into map[*finding.Finding]*finding.Finding) []*finding.Finding {
	return slices.DeleteFunc(joined, func(d *finding.Finding) bool {
		if d.Code != finding.BlockedForEver || d.Status != finding.Confirmed {
			return false
		}
		i := slices.IndexFunc(joined, func(c *finding.Finding) bool {
			return c != nil && c.Code == finding.EndlessWait && c.Status == finding.Confirmed &&
				c.Evidence.Test == d.Evidence.Test &&
				!slices.ContainsFunc(d.Accesses, func(a finding.Access) bool { return accessAt(c, a) < 0 })
		})
		if i < 0 {
			return false
		}
		c, a := joined[i], &d.Accesses[0]
		c.Notes = append(c.Notes, fmt.Sprintf("in %s %s, at %s:%d, waited for it for ever",
			finding.OfRuns(d.Evidence.Hits, d.Evidence.Runs), a.Function, a.File, a.Line))
		into[d] = c
		return true
	})
}

// confirms reports whether c is the bug that s suspects, though another check, or the same check at another place, has
// suspected it too.
func confirms(c, s *finding.Finding) bool {
	switch e := c.Evidence; {
	case c.Status != finding.Confirmed || e.Pattern != "":
		return false
	case e.Blocked != "":
		return provesLeak(s, c)
	case e.Error != "":
		return s.Code == c.Code && accessAt(s, c.Accesses[0]) >= 0
	}
	return sameBug(s, c) || s.Code.IsDataRace() && sameVariable(s, c) && samePlaces(s, c)
}

// alsoSuspected adds the facts of a further suspicion to a finding that a run has shown.
func alsoSuspected(into, s *finding.Finding) {
	if into.ID != s.ID {
		into.SameAs = append(into.SameAs, s.ID)
	}
	if s.Status != finding.Lead {
		into.Notes = append(into.Notes, fmt.Sprintf("statically as well (%s): %s", s.Code, cmp.Or(s.Message, s.Title)))
	}
}
