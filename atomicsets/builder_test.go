package atomicsets

import (
	"reflect"
	"slices"
	"testing"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/atomicsets/plan"
)

func site(file string, line, col int, mode plan.Mode, name, kind string) plan.Site {
	return plan.Site{
		Package: "m", Function: "F", File: file, Line: line, Column: col, EndLine: line, EndCol: col + 3,
		Mode: mode, Expr: name, Variable: plan.Variable{Package: "m", Name: name, Kind: kind},
	}
}

func sample() []plan.Site {
	return []plan.Site{
		site("b.go", 3, 2, plan.Write, "n", plan.KindField),
		site("a.go", 9, 5, plan.Read, "m", plan.KindField),
		site("a.go", 9, 5, plan.Read, "m", plan.KindMap),
		site("a.go", 9, 1, plan.Write, "n", plan.KindField),
		site("a.go", 2, 1, plan.Read, "n", plan.KindField),
	}
}

func build(t *testing.T, in []plan.Site, skips []SkipSite, susp []Suspicion) *plan.Plan {
	t.Helper()
	p, err := Build("m", in, skips, susp)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestIDsFollowTheText(t *testing.T) {
	want := build(t, sample(), nil, nil)
	shuffled := append(sample(), sample()[1], sample()[0]) // in another order, and twice
	slices.Reverse(shuffled)
	if got := build(t, shuffled, nil, nil); !reflect.DeepEqual(got, want) {
		t.Errorf("another order of sites gives another plan:\n%v\n%v", got, want)
	}
	var lines []int
	for _, s := range want.Sites {
		lines = append(lines, s.Line)
		if s.Decision != plan.Monitor {
			t.Errorf("site %d: decision %q without anything against it", s.ID, s.Decision)
		}
	}
	if !slices.Equal(lines, []int{2, 9, 9, 9, 3}) {
		t.Errorf("lines in the order of ids: %v", lines)
	}
}

func TestSkipHitsOnlyItsSite(t *testing.T) {
	in := append(sample(), site("a.go", 2, 1, plan.Read, "n.next", plan.KindField))
	in[5].EndCol = 12
	skips := []SkipSite{
		{plan.Key{File: "a.go", Line: 9, Column: 5, Mode: plan.Read, Map: true}, plan.Fresh},
		{plan.Key{File: "a.go", Line: 2, Column: 1, Mode: plan.Read}, plan.Fresh}, // n or n.next: nobody knows
	}
	p := build(t, in, skips, nil)
	for _, s := range p.Sites {
		if skipped := s.Decision == plan.Skip; skipped != (s.Variable.Kind == plan.KindMap) {
			t.Errorf("%s at %d:%d: %s %q", s.Variable.Kind, s.Line, s.Column, s.Decision, s.Reason)
		}
	}
	want := Stats{Sites: 6, Monitored: 5, Skipped: []Skipped{{plan.Fresh, 1}}}
	if got := Count(p); !reflect.DeepEqual(got, want) {
		t.Errorf("Count: %+v, want %+v", got, want)
	}
}

// The element rows[0] and the elements of rows[0] share a place and are two
// sites; a pass that speaks of rows there means neither.
func TestElementsAreSitesOfTheirOwn(t *testing.T) {
	rows, element := site("a.go", 2, 1, plan.Read, "rows", plan.KindField),
		site("a.go", 2, 1, plan.Read, "rows[]", plan.KindElement)
	element.EndCol = 7
	elements := element
	elements.Behind = true
	p := build(t, []plan.Site{elements, rows, element},
		[]SkipSite{{plan.Key{File: "a.go", Line: 2, Column: 1, Mode: plan.Read}, plan.Fresh}}, nil)
	want := Stats{Sites: 3, Monitored: 2, Skipped: []Skipped{{plan.Fresh, 1}}}
	if got := Count(p); !reflect.DeepEqual(got, want) {
		t.Errorf("Count: %+v, want %+v", got, want)
	}
}

func TestDecisionOfTheSiteStays(t *testing.T) {
	in := sample()
	in[0].Decision, in[0].Reason = plan.Skip, plan.NeverInstrument
	p := build(t, in, nil, []Suspicion{{"il-1", in[0].Key(), in[0].Key()}})
	s := p.Sites[4]
	if s.Decision != plan.Skip || s.Reason != plan.NeverInstrument || s.Suspicious {
		t.Errorf("a suspicion turned a site on that cannot be rewritten: %+v", s)
	}
}

func TestSuspicionMarksBothSides(t *testing.T) {
	access := func(file string, line, col int, mode finding.Mode) finding.Access {
		return finding.Access{Position: finding.Position{File: file, Line: line, Column: col}, Mode: mode}
	}
	findings := []*finding.Finding{{ID: "il-1", Accesses: []finding.Access{
		access("a.go", 2, 7, finding.Read), // column of the selector's name, not of its start
		access("b.go", 3, 2, finding.Write),
		access("a.go", 9, 5, finding.Read), // another variable
	}}}
	skip := []SkipSite{{sample()[0].Key(), plan.Fresh}}
	p := build(t, sample(), skip, Suspicions(findings))
	if want := []plan.Pair{{A: 1, B: 5, Finding: "il-1"}}; !slices.Equal(p.Pairs, want) {
		t.Errorf("pairs %v, want %v", p.Pairs, want)
	}
	for _, s := range p.Sites {
		if want := s.ID == 1 || s.ID == 5; s.Suspicious != want || s.Decision != plan.Monitor {
			t.Errorf("site %d: suspicious %v, %s", s.ID, s.Suspicious, s.Decision)
		}
	}
}

func TestBuildRefusesWhatCannotRun(t *testing.T) {
	in := sample()
	in[2].Mode = "peek"
	if _, err := Build("m", in, nil, nil); err == nil {
		t.Error("a site of unknown mode was accepted")
	}
}
