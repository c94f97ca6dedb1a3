package atomicsets

import (
	"slices"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/pass/invariants"
	"github.com/interlock-go/interlock/atomicsets/plan"
	"github.com/interlock-go/interlock/atomicsets/repository"
	"github.com/interlock-go/interlock/atomicsets/sites"
)

// Inputs is the material of a plan. Only Module and Packages must be there: without the rest, every site is
// monitored and no section is watched.
type Inputs struct {
	Module   string           // path of the main module
	Packages []*sites.Package // the plan has their sites

	// Results of the static passes, package by package.
	Findings []*finding.Finding   // suspected
	Skips    []SkipSite           // proven to need no monitor
	Guarded  []plan.Key           // always guarded, which nobody has proven: left out, except a part that Turn chooses
	Declared []invariants.Section // declared in comments, and candidates if asked for

	// Verdicts are those of the whole program; nil if nobody asked for it.
	Verdicts []plan.Verdict

	Sources  Sources          // which sections the plan gets
	Reviewed *repository.File // decides on the sections; nil leaves all
	Turn     uint64           // chooses the part of Guarded that is monitored
}

// Sources are the kinds of atomic section that are watched.
type Sources struct {
	Inferred   bool // load-and-store and test-and-use
	User       bool // declared in comments or in the repository file
	Invariants bool // pairs of consecutive accesses
}

// Has reports whether sections of the kind are watched.
func (s Sources) Has(kind string) bool {
	switch kind {
	case plan.Invariant:
		return s.Invariants
	case plan.UserSection:
		return s.User
	}
	return s.Inferred
}

// wantsSection reports whether a section is of a kind that is watched.
func (s Sources) wantsSection(section *invariants.Section) bool {
	switch {
	case section.Declared:
		return s.User
	case section.Lead != "":
		return s.Inferred
	}
	return s.Invariants
}

// Made is a plan, and the inputs that it could not use.
type Made struct {
	Plan      *plan.Plan
	Findings  []*finding.Finding // that stay
	Withdrawn []*finding.Finding // that the whole program refutes
	Stale     []Stale            // entries of the repository file without a site
}

// Make makes the plan of a module. It changes nothing of in.
func Make(in Inputs) (*Made, error) {
	// The whole program comes first: a finding that it refutes must neither make
	// a site suspicious nor bring a section.
	m := new(Made)
	m.Findings, m.Withdrawn = Withdraw(in.Findings, in.Verdicts)

	// Every site gets a decision.
	var err error
	skips := slices.Concat(in.Skips, wholeSkips(in.Verdicts))
	if m.Plan, err = Build(in.Module, sites.All(in.Packages), skips, Suspicions(m.Findings)); err != nil {
		return nil, err
	}

	// Sections that the code shows or declares, then decisions of people about them.
	if err := m.addSections(&in); err != nil {
		return nil, err
	}
	if in.Reviewed != nil {
		if m.Stale, err = Apply(m.Plan, in.concerned()); err != nil {
			return nil, err
		}
	}

	// Guarded sites go last, since the sites of suspicions and sections stay.
	pruneGuarded(m.Plan, in.Guarded, in.Turn)
	return m, nil
}

// addSections adds the sections of the sources that are asked for.
func (m *Made) addSections(in *Inputs) error {
	if in.Sources.Inferred {
		if err := AddSections(m.Plan, m.Findings); err != nil {
			return err
		}
	}
	var wanted []invariants.Section
	for _, s := range in.Declared {
		if in.Sources.wantsSection(&s) {
			wanted = append(wanted, s)
		}
	}
	return AddInvariants(m.Plan, wanted)
}

// concerned returns the part of the repository file that is about packages of
// the plan and about kinds of section that are asked for.
func (in *Inputs) concerned() *repository.File {
	f := new(repository.File)
	for _, s := range in.Reviewed.Sections {
		loaded := slices.ContainsFunc(in.Packages, func(p *sites.Package) bool { return p.Path == s.Package })
		if loaded && in.Sources.Has(s.Kind) {
			f.Sections = append(f.Sections, s)
		}
	}
	return f
}
