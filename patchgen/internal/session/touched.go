package session

import (
	"go/ast"
	"go/token"
	"go/types"
)

// Touched returns the declared functions whose source the patch of s changes, by
// their full names (see [types.Func.FullName]); before is the original. A change
// of anything else in a file counts as one of pkg.init, which initialises package
// variables.
func (s *Snapshot) Touched(before *Snapshot) map[string]bool {
	touched := map[string]bool{}
	for _, c := range s.Changes {
		old := textsOf(before.Package(c.Package), c.Before)
		for name, text := range textsOf(s.Package(c.Package), c.After) {
			if old[name] != text {
				touched[name] = true
			}
			delete(old, name)
		}
		for name := range old { // those that are gone
			touched[name] = true
		}
		touched[c.Package+".init"] = true
	}
	return touched
}

// textsOf returns the text of each declared function of a file, by full name.
func textsOf(p *Package, f File) map[string]string {
	texts := map[string]string{}
	if p == nil {
		return texts
	}
	start := f.Syntax.FileStart
	offset := func(pos token.Pos) int { return int(pos - start) }
	for _, d := range f.Syntax.Decls {
		decl, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		if obj, ok := p.Info.Defs[decl.Name].(*types.Func); ok {
			texts[obj.FullName()] += string(f.Source[offset(decl.Pos()):offset(decl.End())])
		}
	}
	return texts
}
