package atomicsets

import (
	"fmt"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/atomicsets/plan"
)

// AddSections gives p the atomic sections that findings speak of, in the order
// of the findings. A section is left out where its entry or end is not exactly
// one monitored site, where both are one site (x++ has no gap to come into), or
// where they are not in one function.
func AddSections(p *plan.Plan, findings []*finding.Finding) error {
	at := newIndex(p)
	names := map[string]int{}
	for _, f := range findings {
		s, ok := at.section(f)
		if !ok {
			continue
		}
		s.ID = uint32(len(p.Sections) + 1)
		if names[s.Name]++; names[s.Name] > 1 {
			s.Name = fmt.Sprintf("%s #%d", s.Name, names[s.Name])
		}
		p.Sections = append(p.Sections, s)
	}
	if err := p.Validate(); err != nil {
		return fmt.Errorf("adding sections to the plan of %s: %w", p.Module, err)
	}
	return nil
}

// section makes the section of f, which has no id yet.
func (at index) section(f *finding.Finding) (plan.Section, bool) {
	if f.Section == nil {
		return plan.Section{}, false
	}
	entry, end := at.one(f.Section.Entry, plan.Read), at.one(f.Section.End, plan.Write)
	if entry == nil || end == nil || entry.ID == end.ID || entry.Function != end.Function || entry.Package != end.Package {
		return plan.Section{}, false
	}
	allows := []plan.Mode{}
	for _, m := range f.Section.Allows {
		allows = append(allows, plan.Mode(m))
	}
	return plan.Section{
		Kind:      f.Section.Kind,
		Name:      fmt.Sprintf("%s %s.%s %s", f.Section.Kind, entry.Package, entry.Function, f.Variable.Name),
		File:      entry.File,
		Function:  entry.Function,
		Variables: []plan.Variable{entry.Variable},
		Entry:     entry.ID,
		Ends:      []plan.End{{Site: end.ID, Allows: allows}},
		Finding:   f.ID,
	}, true
}

// one gives the monitored site at pos, plain or atomic, if there is exactly one.
// That of a map is meant before the variable that holds it.
func (at index) one(pos finding.Position, mode plan.Mode) *plan.Site {
	modes := []plan.Mode{plan.Read, plan.AtomicRead}
	if mode == plan.Write {
		modes = []plan.Mode{plan.Write, plan.AtomicWrite}
	}
	for _, inMap := range []bool{true, false} {
		var found []*plan.Site
		for _, m := range modes {
			k := plan.Key{File: pos.File, Line: pos.Line, Column: pos.Column, Mode: m, Map: inMap, EndLine: pos.EndLine, EndCol: pos.EndColumn}
			found = append(found, at.keys[k]...)
		}
		if len(found) == 1 && found[0].Decision == plan.Monitor {
			return found[0]
		}
	}
	return nil
}
