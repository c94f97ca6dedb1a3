// Package accept sorts out the findings that a team has accepted: by a comment in the source, by an
// entry of a baseline, or because they lie outside of the changed lines. It prints nothing; the
// report counts the accepted findings.
package accept

import (
	"slices"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/pass/directives"
)

// Ignore is a comment in the source that accepts findings.
type Ignore = directives.Ignore

// Filter holds the means by which findings are accepted. The zero value accepts none.
type Filter struct {
	Ignores  []Ignore  // files relative to the main module's root, as those of findings
	Baseline *Baseline // nil: none
	Changed  *Changes  // nil: all lines count as changed
}

// Sorted is the result of [Filter.Sort]: the findings to report, and the number of the others.
type Sorted struct {
	Left []*finding.Finding
	// InSource counts those accepted by a comment, InBaseline those in the baseline, Unchanged those
	// outside of the lines that have changed. A finding counts once, by the first of these; those on one variable that
	// the same comment accepts count as one, which they would be beside the suspicion that the comment has taken away.
	InSource, InBaseline, Unchanged int
	// Accepted are those in the source and in the baseline.
	Accepted []Accepted
}

// Accepted is a finding that somebody has accepted, and why, where a comment says so.
type Accepted struct {
	*finding.Finding
	InSource bool
	Why      string
}

// Sort sorts the findings out. The order of those left stays.
func (f *Filter) Sort(findings []*finding.Finding) Sorted {
	type bug struct {
		by *Ignore
		on finding.Variable
	}
	var s Sorted
	inSource := map[bug]bool{}
	for _, g := range findings {
		by := f.ignored(g)
		switch {
		case by != nil:
			inSource[bug{by, g.Variable}] = true
			s.Accepted = append(s.Accepted, Accepted{g, true, by.Reason})
		case f.Baseline != nil && f.Baseline.covers(g):
			s.InBaseline++
			s.Accepted = append(s.Accepted, Accepted{g, false, ""})
		case f.Changed != nil && !f.Changed.touches(g):
			s.Unchanged++
		default:
			if f.Baseline != nil {
				for _, fn := range f.Baseline.uncovered(g) {
					g.Notes = append(g.Notes, "the baseline accepts this finding, but not in "+fn)
				}
			}
			s.Left = append(s.Left, g)
		}
	}
	s.InSource = len(inSource)
	return s
}

// ignored returns the comment that accepts g at one of the places that a run has seen, or nil. The checks obey
// comments themselves, place by place: a suspected finding names none that is accepted.
func (f *Filter) ignored(g *finding.Finding) *Ignore {
	if g.Evidence == nil {
		return nil
	}
	i := slices.IndexFunc(f.Ignores, func(ig Ignore) bool {
		return ig.Covers(g.Code) && slices.ContainsFunc(seen(g), func(p finding.Position) bool {
			return ig.IsAt(p.File, p.Line)
		})
	})
	if i < 0 {
		return nil
	}
	return &f.Ignores[i]
}

// seen lists the places of g that are marked as seen in a run; if none is, the first two.
func seen(g *finding.Finding) (places []finding.Position) {
	for _, a := range g.Accesses {
		if a.Goroutine != nil || a.Step > 0 {
			places = append(places, a.Position)
		}
	}
	if len(places) > 0 {
		return places
	}
	all := g.Places()
	return all[:min(2, len(all))]
}
