package join

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/interlock-go/interlock/analyzers/finding"
)

// oneOfFunctions adds the rest of the findings of runs to those that are joined. Races of the same two functions on one
// variable are one finding: it is chance which of their accesses meet, and one lock is missing. The first has a note on
// each of the others. Its id is that of the race of these functions that was suspected, wherever, or else that of the
// first two accesses in their source that conflict: it is the same whichever race a run has shown.
func (known *Known) oneOfFunctions(
	joined, rest, static []*finding.Finding, into map[*finding.Finding]*finding.Finding,
) []*finding.Finding {
	slices.SortStableFunc(rest, func(a, b *finding.Finding) int { return cmp.Compare(a.Proof(), b.Proof()) })
	for _, c := range rest {
		own := c.ID
		first := sameFunctions(joined, c)
		if first != nil {
			first.Code = sharper(first.Code, c.Code)
			first.Notes = append(first.Notes, betweenThem(c))
			into[c] = first
		} else {
			first, joined = c, append(joined, c)
			known.name(c, static)
		}
		isAnother := func(s *finding.Finding) bool { return s.ID == own }
		if first.ID != own && !slices.Contains(first.SameAs, own) && !slices.ContainsFunc(static, isAnother) {
			first.SameAs = append(first.SameAs, own)
		}
	}
	return joined
}

// name sets the id of a race by its functions.
func (known *Known) name(c *finding.Finding, static []*finding.Finding) {
	if !isRace(c) {
		return
	}
	sides, ordinal := known.Sides[c.ID], 0
	i := slices.IndexFunc(static, func(s *finding.Finding) bool { return s.Code.IsDataRace() && betweenSame(s, c) })
	if i >= 0 {
		sides, ordinal = static[i].Pair(), static[i].Ordinal
	}
	if len(sides) == 0 {
		return
	}
	plain := *c
	plain.Ordinal = ordinal
	c.Sides, c.Ordinal = sides, ordinal
	if c.ID = c.ComputeID(); c.ID == plain.ComputeID() {
		c.Sides = nil
	}
}

// namedAfter reports whether c is a race that has the id of the suspicion s.
func namedAfter(c, s *finding.Finding) bool {
	return isRace(c) && c.ID == s.ID && s.Code.IsDataRace() && betweenSame(c, s)
}

// isRace reports whether c is a data race that a run has shown.
func isRace(c *finding.Finding) bool {
	e := c.Evidence
	return e != nil && e.Pattern == "" && e.Error == "" && e.Blocked == "" && len(c.Accesses) >= 2 && len(c.Cycle) == 0
}

// sameFunctions returns the first of the races on c's variable, proven as well as c, that is between the same two
// functions, or nil.
func sameFunctions(races []*finding.Finding, c *finding.Finding) *finding.Finding {
	i := slices.IndexFunc(races, func(f *finding.Finding) bool {
		return isRace(f) && isRace(c) && f.Proof() <= c.Proof() && betweenSame(f, c)
	})
	if i < 0 {
		return nil
	}
	return races[i]
}

// betweenSame reports whether the first two accesses of both findings are in the same functions, to one variable.
func betweenSame(f, g *finding.Finding) bool {
	names := func(f *finding.Finding) [2]string {
		if len(f.Accesses) == 0 {
			return [2]string{}
		}
		x, y := &f.Accesses[0], &f.Accesses[min(1, len(f.Accesses)-1)]
		a, b := x.Package+" "+x.Function, y.Package+" "+y.Function
		return [2]string{min(a, b), max(a, b)}
	}
	return sameVariable(f, g) && names(f) == names(g)
}

// betweenThem returns a sentence on c, a further race of the functions of a finding.
func betweenThem(c *finding.Finding) string {
	a, b := &c.Accesses[0], &c.Accesses[1]
	return fmt.Sprintf("caught between them as well: %s at %s and %s at %s, in %s",
		a.Mode, a.Position, b.Mode, b.Position, finding.OfRuns(c.Evidence.Hits, c.Evidence.Runs))
}
