package facts

import (
	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/pass/callgraph"
	"github.com/interlock-go/interlock/patchgen/internal/session"
	"github.com/interlock-go/interlock/patchgen/internal/source"
)

// Facts answers questions about one state of a module. It is not safe for concurrent use.
type Facts struct {
	*session.Snapshot
	// Calls knows which functions of the module a call may run.
	Calls *callgraph.Conservative

	packages  map[*ssa.Program]*session.Package // each has a program of its own
	files     map[*source.File]*code            // see codeOf
	indexes   map[*session.Package]*code
	endless   map[*ssa.Function]bool   // see isEndless
	decisions map[ssa.Value]Dependence // see Decides

	around map[string]bool // see HeldAround; made on demand

	awaits, sureWaits, hazards, anew, lasts *Search

	bold, trusting bool // see Bold
}

// Bold returns facts for drafts, of which the judge doubts what could not be shown. With trusting, code that is not
// known is taken for code that a new lock may be held around.
func (f *Facts) Bold(trusting bool) *Facts {
	t := *f
	t.bold, t.trusting = true, trusting
	t.anew = NewSearch(t.lookNew)
	return &t
}

// IsBold reports whether the facts are for drafts.
func (f *Facts) IsBold() bool { return f.bold }

// New returns the facts of a state of a module.
func New(s *session.Snapshot) *Facts {
	f := &Facts{Snapshot: s, packages: map[*ssa.Program]*session.Package{}, files: map[*source.File]*code{},
		indexes: map[*session.Package]*code{}, endless: map[*ssa.Function]bool{},
		decisions: map[ssa.Value]Dependence{}}
	f.awaits, f.sureWaits, f.hazards = NewSearch(f.lookAwaits), NewSearch(f.lookSureWaits), NewSearch(f.lookHazard)
	f.anew, f.lasts = NewSearch(f.lookNew), NewSearch(f.lookLasts)
	var graphs []*callgraph.Graph
	for _, p := range s.Packages {
		f.packages[p.IR.Pkg.Prog] = p
		graphs = append(graphs, p.Calls)
	}
	f.Calls = callgraph.NewConservative(graphs)
	return f
}

// Of returns the package that a function with a body belongs to.
func (f *Facts) Of(fn *ssa.Function) *session.Package { return f.packages[fn.Prog] }
