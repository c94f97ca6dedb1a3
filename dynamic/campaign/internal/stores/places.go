package stores

import (
	"github.com/interlock-go/interlock/atomicsets/plan"
	"github.com/interlock-go/interlock/dynamic/evidence"
)

// places returns where the function of the section has its entry and the end that was met: at the calls, where these
// lie in callees.
func (src *Source) places(section *plan.Section, s *evidence.SplitSection) (entry, end *plan.Site) {
	entry, end = src.Plan.Site(section.Entry), src.Plan.Site(s.End.Site)
	if section.EntryCall != nil {
		entry = &plan.Site{File: section.File, Line: section.EntryCall.Line, Column: section.EntryCall.Column}
	}
	for _, e := range section.Ends {
		if e.Site == s.End.Site && e.EndCall != nil {
			end = &plan.Site{File: section.File, Line: e.EndCall.Line, Column: e.EndCall.Column}
		}
	}
	return entry, end
}
