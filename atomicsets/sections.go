package atomicsets

import (
	"fmt"
	"slices"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/pass/invariants"
	"github.com/interlock-go/interlock/atomicsets/plan"
)

// AddSections adds to p the atomic sections that findings have, in the order
// of the findings. A section is left out where its entry or all its ends are not
// exactly one monitored site each, where both are one site (x++ has no gap to
// come into), or where they are not in the section's function.
func AddSections(p *plan.Plan, findings []*finding.Finding) error {
	at := newIndex(p)
	for _, f := range findings {
		if f.Section == nil {
			continue
		}
		if s, ok := at.section(f, f.Section); ok {
			s.Finding, s.Lead = f.ID, f.Status == finding.Lead
			addSection(p, s)
		}
		for i := range f.Section.Also {
			if s, ok := at.section(f, &f.Section.Also[i]); ok {
				s.Lead = f.Status == finding.Lead
				addSection(p, s) // split, it is a finding of its own
			}
		}
	}
	return checked(p)
}

// AddInvariants adds to p the sections that are declared in comments, and candidates: pairs of consecutive
// accesses, with the A sets of [Allowed]. An access that has no site, or one that is not monitored, is left
// out.
func AddInvariants(p *plan.Plan, sections []invariants.Section) error {
	at := newIndex(p)
	for i := range sections {
		if s, ok := at.invariant(&sections[i]); ok && !(s.Lead && isWatched(p, &s)) {
			addSection(p, s)
		}
	}
	return checked(p)
}

// isWatched reports whether p has a section with the entry of s and one of its ends.
func isWatched(p *plan.Plan, s *plan.Section) bool {
	return slices.ContainsFunc(p.Sections, func(o plan.Section) bool {
		return o.Entry == s.Entry && o.Function == s.Function && slices.ContainsFunc(o.Ends, func(e plan.End) bool {
			return slices.ContainsFunc(s.Ends, func(u plan.End) bool { return u.Site == e.Site })
		})
	})
}

func (at index) invariant(from *invariants.Section) (plan.Section, bool) {
	entry := at.siteOfHalf(&from.Entry)
	if entry == nil {
		return plan.Section{}, false
	}
	s := plan.Section{
		Kind: plan.Invariant, Package: from.Package, Function: from.Function, File: entry.File,
		Variables: []plan.Variable{entry.Variable},
		Entry:     entry.ID, EntryCall: placeOf(from.Entry.Call), Length: from.Length,
	}
	switch {
	case from.Declared:
		s.Kind = plan.UserSection
	case from.Lead != "":
		s.Kind, s.Lead = from.Lead, true
	}
	if from.Entry.Call != nil {
		s.File = from.Entry.Call.File
	}
	// An end in the function itself has its site there, one in a callee its call.
	for i := range from.Ends {
		h := &from.Ends[i]
		if end := at.siteOfHalf(h); end != nil && (h.Call != nil || end.Function == s.Function && end.File == s.File) {
			s.Ends = append(s.Ends, plan.End{Site: end.ID, EndCall: placeOf(h.Call), Allows: allowedIn(&s, entry, end)})
			if !slices.Contains(s.Variables, end.Variable) {
				s.Variables = append(s.Variables, end.Variable)
			}
		}
	}
	s.Name = sectionName(&s, from.Variable)
	return s, len(s.Ends) > 0
}

// allowedIn is [Allowed] for accesses of one variable. Between writes of two that belong together, nothing may come.
func allowedIn(s *plan.Section, entry, end *plan.Site) []plan.Mode {
	switch {
	case s.Lead && s.Kind != plan.Invariant:
		return []plan.Mode{plan.Read}
	case s.Lead && writes(entry.Mode):
		return []plan.Mode{}
	}
	return Allowed(entry.Mode, end.Mode)
}

// siteOfHalf returns the monitored site of h, if there is exactly one.
func (at index) siteOfHalf(h *invariants.Half) *plan.Site {
	sites := at.keys[plan.Key{
		File: h.File, Line: h.Line, Column: h.Column, Mode: plan.Mode(h.Mode), Map: h.Map, EndLine: h.EndLine,
		EndCol: h.EndColumn,
	}]
	if len(sites) != 1 || sites[0].Decision != plan.Monitor {
		return nil
	}
	return sites[0]
}

// addSection adds s with its id, and a name that no other section has.
func addSection(p *plan.Plan, s plan.Section) {
	s.ID = uint32(len(p.Sections) + 1)
	base := s.Name
	for n := 2; slices.ContainsFunc(p.Sections, func(o plan.Section) bool { return o.Name == s.Name }); n++ {
		s.Name = fmt.Sprintf("%s #%d", base, n)
	}
	p.Sections = append(p.Sections, s)
}

func checked(p *plan.Plan) error {
	if err := p.Validate(); err != nil {
		return fmt.Errorf("adding sections to the plan of %s: %w", p.Module, err)
	}
	return nil
}

// section makes one of f's sections, which has no id yet.
func (at index) section(f *finding.Finding, from *finding.Section) (plan.Section, bool) {
	entry := at.onlySiteAt(from.Entry, plan.Read)
	if entry == nil {
		return plan.Section{}, false
	}
	s := plan.Section{
		Kind:      from.Kind,
		Package:   entry.Package,
		Function:  entry.Function,
		File:      entry.File,
		Variables: []plan.Variable{entry.Variable},
		Entry:     entry.ID,
		EntryCall: placeOf(from.EntryCall),
		Length:    from.Length,
		Own:       from.Own,
	}
	if from.EntryCall != nil {
		s.Package, s.Function, s.File = f.Accesses[0].Package, from.Function, from.EntryCall.File
	}
	at.addEnd(&s, from.End, from.EndCall, from.Allows)
	for _, e := range from.More {
		at.addEnd(&s, e.Position, e.Call, e.Allows)
	}
	s.Name = sectionName(&s, entry.Variable.Name)
	return s, len(s.Ends) > 0
}

// sectionName is that of findings and of tables. It has no line numbers, so
// that it survives edits.
func sectionName(s *plan.Section, variable string) string {
	return fmt.Sprintf("%s %s.%s %s", s.Kind, s.Package, s.Function, variable)
}

// addEnd adds to s an end at pos, or in the call that leads there.
func (at index) addEnd(s *plan.Section, pos finding.Position, call *finding.Position, allows []finding.Mode) {
	end := at.onlySiteAt(pos, plan.Write)
	if end == nil && s.Kind != plan.LoadAndStore {
		end = at.onlySiteAt(pos, plan.Read)
	}
	switch {
	case end == nil:
	case call == nil && (end.Function != s.Function || end.Package != s.Package || end.File != s.File):
	case call != nil && call.File != s.File:
	case end.ID == s.Entry && call == nil && s.EntryCall == nil:
	default:
		e := plan.End{Site: end.ID, EndCall: placeOf(call), Allows: []plan.Mode{}}
		for _, m := range allows {
			e.Allows = append(e.Allows, plan.Mode(m))
		}
		s.Ends = append(s.Ends, e)
		if !slices.Contains(s.Variables, end.Variable) {
			s.Variables = append(s.Variables, end.Variable)
		}
	}
}

func placeOf(p *finding.Position) *plan.Place {
	if p == nil {
		return nil
	}
	return &plan.Place{Line: p.Line, Column: p.Column, EndLine: p.EndLine, EndCol: p.EndColumn}
}

// onlySiteAt returns the monitored site at pos, plain or atomic, if there is exactly one.
// That of a map is meant before the variable that holds it.
func (at index) onlySiteAt(pos finding.Position, mode plan.Mode) *plan.Site {
	modes := []plan.Mode{plan.Read, plan.AtomicRead}
	if mode == plan.Write {
		modes = []plan.Mode{plan.Write, plan.AtomicWrite}
	}
	for _, inMap := range []bool{true, false} {
		var found []*plan.Site
		for _, m := range modes {
			k := plan.Key{File: pos.File, Line: pos.Line, Column: pos.Column, Mode: m, Map: inMap, EndLine: pos.EndLine,
				EndCol: pos.EndColumn}
			found = append(found, at.keys[k]...)
		}
		if len(found) == 1 && watchable(found[0]) {
			return found[0]
		}
	}
	return nil
}

// watchable reports whether the site can be one half of a section. That it is no
// party of a data race, since its variable is stationary, does not keep it from that.
func watchable(s *plan.Site) bool {
	if s.Decision == plan.Skip && s.Reason == plan.Stationary {
		s.Decision, s.Reason = plan.Monitor, ""
	}
	return s.Decision == plan.Monitor
}
