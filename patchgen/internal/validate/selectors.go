package validate

import (
	"go/ast"
	"go/types"

	"github.com/interlock-go/interlock/patchgen/internal/session"
)

// selectors demands that a field or a method which the patch adds changes the meaning of no selector: a shorter way
// through embedded fields hides a longer one.
//
//	type base struct{ mu sync.Mutex }	// mu is new
//	type node struct { base; *owner }	// n.mu was that of the owner
//
// Nor does a selector that the patch writes find something of that name which was there before.
func (j *judge) selectors() {
	before, after := membersOf(j.old.state), membersOf(j.now.state)
	added := map[string]bool{} // names
	for m := range after {
		if !before[m] {
			added[m.name] = true
		}
	}
	if len(added) == 0 {
		return
	}
	old, now := j.selected(j.old, added, before), j.selected(j.now, added, before)
	for _, k := range append(old.more(now), now.more(old)...) {
		j.add("selectors", "%s finds %s by a name that the patch adds %d times, and found it %d times before",
			short(k.function), short(k.what), now[k], old[k])
	}
}

// member is a field or method with the type that declares it.
type member struct{ owner, name string }

// membersOf lists the fields and methods that the named types of the module declare.
func membersOf(s *state) map[member]bool {
	all := map[member]bool{}
	for _, p := range s.Packages {
		for _, name := range p.Types.Scope().Names() {
			tn, ok := p.Types.Scope().Lookup(name).(*types.TypeName)
			if !ok {
				continue
			}
			owner := typeText(tn.Type())
			for m := range methodsOf(tn) {
				all[member{owner, m}] = true
			}
			if st, ok := tn.Type().Underlying().(*types.Struct); ok {
				for f := range st.Fields() {
					all[member{owner, f.Name()}] = true
				}
			}
		}
	}
	return all
}

// selected counts the selectors of some names that find one of the members, by function and member.
func (j *judge) selected(s *side, names map[string]bool, members map[member]bool) tally {
	found := tally{}
	for _, p := range s.Packages {
		for _, f := range p.Files {
			for _, d := range f.Decls {
				in := p.Path + ".init"
				if decl, ok := d.(*ast.FuncDecl); ok {
					if fn, ok := p.Info.Defs[decl.Name].(*types.Func); ok {
						in = fn.FullName()
					}
				}
				ast.Inspect(d, func(n ast.Node) bool {
					sel, ok := n.(*ast.SelectorExpr)
					if ok && names[sel.Sel.Name] {
						if m := memberAt(p, sel); members[m] {
							found[tallyKey{in, m.owner + "." + m.name}]++
						}
					}
					return true
				})
			}
		}
	}
	return found
}

// memberAt returns the member that a selector finds; the zero member for one that is qualified by a package.
func memberAt(p *session.Package, sel *ast.SelectorExpr) (m member) {
	s := p.Info.Selections[sel]
	if s == nil {
		return m
	}
	t := s.Recv()
	for _, i := range s.Index()[:len(s.Index())-1] {
		st, ok := types.Unalias(deref(t)).Underlying().(*types.Struct)
		if !ok {
			return m
		}
		t = st.Field(i).Type()
	}
	owner := types.Unalias(deref(t))
	if named, ok := owner.(*types.Named); ok {
		owner = named.Origin()
	}
	return member{typeText(owner), sel.Sel.Name}
}

// deref returns the type that a pointer leads to, or the type itself.
func deref(t types.Type) types.Type {
	if p, ok := t.Underlying().(*types.Pointer); ok {
		return p.Elem()
	}
	return t
}
