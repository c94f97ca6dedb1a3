package validate

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/interlock-go/interlock/patchgen/internal/session"
)

// findTouched names the declared functions whose source the patch changes, as
// declared does. A change of anything else in a file counts as one of what
// initialises package variables.
func findTouched(before, after *session.Snapshot) map[string]bool {
	touched := map[string]bool{}
	for _, c := range after.Changes {
		old := sources(before.Package(c.Package), c.Before)
		for name, text := range sources(after.Package(c.Package), c.After) {
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

// sources returns the text of each declared function of a file, by full name.
func sources(p *session.Package, f session.File) map[string]string {
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
