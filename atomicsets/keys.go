package atomicsets

import (
	"strings"

	"github.com/interlock-go/interlock/atomicsets/plan"
	"github.com/interlock-go/interlock/atomicsets/repository"
)

// Keys translates between the sites of a plan and the names that they have in
// the repository file.
type Keys struct {
	plan  *plan.Plan
	names map[uint32]named
	ids   map[named]uint32
}

// named is a site's name within the module.
type named struct {
	pkg, fn string
	access  repository.Access // without In
}

// NewKeys names the sites of p, which must not change from then on.
func NewKeys(p *plan.Plan) *Keys {
	k := &Keys{plan: p, names: map[uint32]named{}, ids: map[named]uint32{}}
	count := map[named]int{}
	for i := range p.Sites { // by place within a file
		s := &p.Sites[i]
		n := named{s.Package, s.Function, repository.Access{Mode: s.Mode, Of: nameOfSite(s), Expr: oneLine(s.Expr)}}
		count[n]++
		n.access.Nth = count[n]
		k.names[s.ID], k.ids[n] = n, s.ID
	}
	return k
}

func nameOfSite(s *plan.Site) string {
	switch {
	case s.Variable.Kind == plan.KindMap:
		return repository.OfMap
	case s.Variable.Kind == plan.KindElement && s.Behind:
		return repository.OfElements
	}
	return ""
}

func oneLine(expr string) string { return strings.Join(strings.Fields(expr), " ") }

// Section returns the name of a section of the plan.
func (k *Keys) Section(s *plan.Section) repository.Key {
	return repository.Key{Kind: s.Kind, Package: s.Package, Function: s.Function, Entry: k.access(s.Entry, s.EntryCall)}
}

// End returns the name of an end within its section.
func (k *Keys) End(e *plan.End) repository.Access { return k.access(e.Site, e.EndCall) }

func (k *Keys) access(site uint32, call *plan.Place) repository.Access {
	n := k.names[site]
	if call != nil {
		n.access.In = n.fn
	}
	return n.access
}

// siteNamed returns the site with the name, of a function of the package; 0 if there is none.
func (k *Keys) siteNamed(pkg, fn string, a repository.Access) uint32 {
	a.In = ""
	return k.ids[named{pkg, fn, a}]
}
