package atomicsets

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/interlock-go/interlock/atomicsets/plan"
	"github.com/interlock-go/interlock/atomicsets/repository"
)

// Stale is a section of the repository file, or an end of it, that the plan
// has no site for.
type Stale struct {
	Section *repository.Section
	End     *repository.End // nil: the entry, or the section as a whole
	Why     string
}

// String returns the entry with its place.
func (s Stale) String() string {
	line := s.Section.Line
	if s.End != nil {
		line = cmp.Or(s.End.Line, line)
	}
	return fmt.Sprintf("%s:%d: %s", repository.Name, line, s.Why)
}

// Apply has the repository file decide on the sections of p, once all inferred
// ones are there: A sets are the file's, ends that are dropped or unobserved
// leave the plan, and so do sections without an end left. User sections of the
// file are added, and pinned ones if nothing has inferred them. Entries
// of the file that stand for nothing are returned.
func Apply(p *plan.Plan, f *repository.File) ([]Stale, error) {
	a := applier{plan: p, keys: NewKeys(p), have: map[repository.Key]bool{}}
	inferred := p.Sections
	p.Sections = nil
	for _, s := range inferred {
		key := a.keys.Section(&s)
		a.have[key] = true
		if in := f.Find(key); in != nil {
			s.Ends = a.endsLeft(&s, in)
		}
		if len(s.Ends) > 0 {
			addSection(p, s)
		}
	}
	for _, s := range f.Sections {
		a.section(s)
	}
	return a.stale, checked(p)
}

type applier struct {
	plan  *plan.Plan
	keys  *Keys
	have  map[repository.Key]bool
	stale []Stale
}

// endsLeft returns the ends of s that are left, with the A sets that the file has.
func (a *applier) endsLeft(s *plan.Section, in *repository.Section) []plan.End {
	var left []plan.End
	for _, e := range s.Ends {
		named := in.End(a.keys.End(&e))
		switch {
		case named == nil:
			left = append(left, e)
		case named.Active():
			e.Allows = named.Allows
			left = append(left, e)
		}
	}
	return left
}

// section checks a section of the file against the code, and adds it to the
// plan if nothing else does.
func (a *applier) section(in *repository.Section) {
	s := plan.Section{Kind: in.Kind, Package: in.Package, Function: in.Function, Entry: a.resolve(in, nil, in.Entry)}
	if entry := a.plan.Site(s.Entry); entry != nil {
		s.File, s.Variables = entry.File, []plan.Variable{entry.Variable}
	}
	inCallee := in.Entry.In != ""
	for _, e := range in.Ends {
		site := a.resolve(in, e, e.Access)
		inCallee = inCallee || e.In != ""
		if site == 0 || !e.Active() {
			continue
		}
		s.Ends = append(s.Ends, plan.End{Site: site, Allows: e.Allows})
		if v := a.plan.Site(site).Variable; !slices.Contains(s.Variables, v) {
			s.Variables = append(s.Variables, v)
		}
	}
	switch {
	case a.have[in.Key] || in.Kind != plan.UserSection && in.Pinned == "":
	case inCallee:
		a.complain(in, nil, "nothing has inferred the section, and one with an access in a callee cannot be declared: "+
			"mark the code that has the calls with //interlock:atomic")
	case s.Entry != 0 && len(s.Ends) > 0:
		s.Name = sectionName(&s, s.Variables[0].Name)
		addSection(a.plan, s)
	}
}

// resolve returns the monitored site of an access, or 0, which it complains of.
func (a *applier) resolve(in *repository.Section, e *repository.End, access repository.Access) uint32 {
	fn := cmp.Or(access.In, in.Function)
	id := a.keys.siteNamed(in.Package, fn, access)
	switch {
	case id == 0 && access.In != "": // may be in another package
	case id == 0:
		next := "`interlock sections refresh` removes it"
		if in.Kind == plan.UserSection || in.Pinned != "" {
			next = "fix or remove it"
		}
		a.complain(in, e, "%s.%s has no access `%s`: %s", in.Package, fn, access, next)
	case a.plan.Site(id).Decision != plan.Monitor && in.Kind == plan.UserSection:
		a.complain(in, e, "`%s` in %s.%s is not monitored: %s", access, in.Package, fn, a.plan.Site(id).Reason)
		return 0
	case a.plan.Site(id).Decision != plan.Monitor:
		return 0
	}
	return id
}

func (a *applier) complain(in *repository.Section, e *repository.End, format string, args ...any) {
	a.stale = append(a.stale, Stale{in, e, fmt.Sprintf(format, args...)})
}
