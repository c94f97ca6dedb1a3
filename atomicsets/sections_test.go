package atomicsets

import (
	"slices"
	"testing"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/atomicsets/plan"
)

// What AVIO's table forbids is exactly R-w-R, W-w-R, W-r-W and R-w-W.
func TestAllowedIsAVIO(t *testing.T) {
	forbidden := []string{"RwR", "WwR", "WrW", "RwW"}
	modes := map[string]plan.Mode{"R": plan.Read, "W": plan.Write}
	atomics := map[string]plan.Mode{"R": plan.AtomicRead, "W": plan.AtomicWrite}
	for _, a := range []string{"R", "W"} {
		for _, b := range []string{"R", "W"} {
			for remote, m := range map[string]plan.Mode{"r": plan.Read, "w": plan.Write} {
				want := !slices.Contains(forbidden, a+remote+b)
				if got := slices.Contains(Allowed(modes[a], modes[b]), m); got != want {
					t.Errorf("%s-%s-%s: allowed %v, want %v", a, remote, b, got, want)
				}
				if got := slices.Contains(Allowed(atomics[a], atomics[b]), m); got != want {
					t.Errorf("%s-%s-%s of atomics: allowed %v, want %v", a, remote, b, got, want)
				}
			}
		}
	}
}

func TestAddSections(t *testing.T) {
	at := func(file string, line, col int) finding.Position {
		return finding.Position{File: file, Line: line, Column: col, EndLine: line, EndColumn: col + 3}
	}
	split := func(entry, end finding.Position) *finding.Finding {
		return &finding.Finding{Variable: finding.Variable{Name: "n"}, Section: &finding.Section{
			Kind: plan.LoadAndStore, Entry: entry, End: end, Allows: []finding.Mode{finding.Read},
		}}
	}
	good := split(at("a.go", 2, 1), at("a.go", 9, 1))
	findings := []*finding.Finding{
		{}, // no section
		split(at("a.go", 9, 1), at("a.go", 9, 1)), // x++
		split(at("c.go", 1, 1), at("a.go", 9, 1)), // no such site
		good, good,
	}
	p := build(t, sample(), nil, nil)
	if err := AddSections(p, findings); err != nil {
		t.Fatal(err)
	}
	if len(p.Sections) != 2 {
		t.Fatalf("sections %+v, want two", p.Sections)
	}
	if s := p.Sections[0]; s.Entry != 1 || s.Ends[0].Site != 2 || s.Name != "load-and-store m.F n" {
		t.Errorf("first section %+v", s)
	}
	if s := p.Sections[1]; s.ID != 2 || s.Name != "load-and-store m.F n #2" {
		t.Errorf("second section %+v", s)
	}
}

// A site that is skipped cannot open a section.
func TestSectionsOfSkippedSitesAreLeftOut(t *testing.T) {
	p := build(t, sample(), []SkipSite{{sample()[4].Key(), plan.Fresh}}, nil)
	pos := func(s plan.Site) finding.Position {
		return finding.Position{File: s.File, Line: s.Line, Column: s.Column, EndLine: s.EndLine, EndColumn: s.EndCol}
	}
	f := &finding.Finding{Section: &finding.Section{Kind: plan.LoadAndStore, Entry: pos(sample()[4]),
		End: pos(sample()[3])}}
	if err := AddSections(p, []*finding.Finding{f}); err != nil || len(p.Sections) != 0 {
		t.Errorf("sections %+v, %v", p.Sections, err)
	}
}
