// Package accept sorts out the findings that a team has accepted: by a comment in the source, by an
// entry of a baseline, or because they lie outside of what has changed. It prints nothing; the
// report counts what was sorted out.
package accept

import (
	"slices"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/pass/directives"
)

// Ignore is a comment in the source that accepts findings.
type Ignore = directives.Ignore

// Filter is what findings are accepted by. The zero value accepts none.
type Filter struct {
	Ignores  []Ignore  // files relative to the main module's root, as those of findings
	Baseline *Baseline // nil: none
	Changed  *Changes  // nil: all lines count as changed
}

// Sorted is what [Filter.Sort] returns: the findings to report, and how many there are of the others.
type Sorted struct {
	Left []*finding.Finding
	// InSource counts those accepted by a comment, InBaseline those in the baseline, Unchanged those
	// outside of the lines that have changed. A finding counts once, by the first of these.
	InSource, InBaseline, Unchanged int
}

// Sort sorts the findings out. The order of those left stays.
func (f *Filter) Sort(findings []*finding.Finding) Sorted {
	var s Sorted
	for _, g := range findings {
		switch {
		case f.ignored(g):
			s.InSource++
		case f.Baseline != nil && f.Baseline.covers(g):
			s.InBaseline++
		case f.Changed != nil && !f.Changed.touches(g):
			s.Unchanged++
		default:
			s.Left = append(s.Left, g)
		}
	}
	return s
}

// ignored reports whether a comment accepts g at one of the places that a run has seen. The checks obey
// comments themselves, place by place: a suspected finding names none that is accepted.
func (f *Filter) ignored(g *finding.Finding) bool {
	if g.Evidence == nil {
		return false
	}
	return slices.ContainsFunc(f.Ignores, func(ig Ignore) bool {
		return ig.Covers(g.Code) && slices.ContainsFunc(seen(g), func(p finding.Position) bool {
			return ig.IsAt(p.File, p.Line)
		})
	})
}

// seen lists the places of g that a run has seen, or where none is marked so its first two.
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
