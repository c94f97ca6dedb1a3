package stationary

import (
	"go/types"
	"slices"

	"github.com/interlock-go/interlock/analyzers/pass/scope"
)

// names has names of fields that are the same in every package: that of their
// package, of the first exported type there that declares them, or else of
// the first type, and their own.
type names map[*types.Package]map[*types.Var]string

// nameOf returns the name of f; empty for fields of types without a name, and of
// packages that are not analysed.
func (n names) nameOf(f *types.Var) string {
	fields, ok := n[f.Pkg()]
	if !ok && f.Pkg() != nil {
		fields = fieldsOf(f.Pkg())
		n[f.Pkg()] = fields
	}
	return fields[f]
}

func fieldsOf(pkg *types.Package) map[*types.Var]string {
	fields := map[*types.Var]string{}
	if !(scope.Unit{Path: pkg.Path()}).In() {
		return fields
	}
	for _, exported := range []bool{true, false} {
		for _, name := range pkg.Scope().Names() {
			t, ok := pkg.Scope().Lookup(name).(*types.TypeName)
			if !ok || t.IsAlias() || t.Exported() != exported {
				continue
			}
			st, ok := t.Type().Underlying().(*types.Struct)
			if !ok {
				continue
			}
			for f := range st.Fields() {
				if f.Pkg() == pkg && fields[f] == "" {
					fields[f] = pkg.Path() + "." + name + "." + f.Name()
				}
			}
		}
	}
	return fields
}

// Unless reports whether f, of the generic origin, is stationary as far as
// this package knows and others may write it: it is stationary in a program
// where none of the packages analysed does: [Fields.Written] of each says so.
// The name is the one used there.
func (s *Fields) Unless(f *types.Var) (name string, ok bool) {
	if !s.usable || f == nil || !f.IsField() || s.written[f] || !f.Exported() && !s.open[f] && f.Pkg() == s.pkg {
		return "", false
	}
	name = s.names.nameOf(f)
	return name, name != ""
}

// Written lists the fields that this package writes while others may reach
// their object, as far as other packages may hold them for stationary: those
// of other packages, exported ones, and those of types that may be copied over.
func (s *Fields) Written() []string {
	var all []string
	for f := range s.written {
		if f.Pkg() == s.pkg && !f.Exported() && !s.open[f] {
			continue
		}
		if name := s.names.nameOf(f); name != "" {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	return all
}
