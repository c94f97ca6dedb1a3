package stores

import (
	"go/ast"
	"go/types"

	"github.com/interlock-go/interlock/atomicsets/plan"
	"github.com/interlock-go/interlock/atomicsets/sites"
	"github.com/interlock-go/interlock/dynamic/evidence"
)

// looksAgain reports whether the function asks once more behind the end of the section what it has asked at the entry,
// so that it may take back what it has done:
//
//	if b.Free() < n { return false }
//	b.Take(n)
//	if b.Free() < 0 { b.Take(-n); return false }
func (src *Source) looksAgain(section *plan.Section, s *evidence.SplitSection) bool {
	entry, end := src.places(section, s)
	for _, p := range src.Packages {
		for _, f := range p.Files {
			if end.File == entry.File && IsFile(p, f, end.File) {
				return asksAgain(p, f, entry, end)
			}
		}
	}
	return false
}

// asksAgain reports whether a condition behind the end, in the function of the entry, holds the expression of the
// entry.
func asksAgain(p *sites.Package, f *ast.File, entry, end *plan.Site) (again bool) {
	asked := ""
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || !covers(p.Fset, fn, entry) || !covers(p.Fset, fn, end) {
			continue
		}
		ast.Inspect(fn, func(n ast.Node) bool {
			at := func() bool {
				from := p.Fset.PositionFor(n.Pos(), false)
				return from.Line == entry.Line && from.Column == entry.Column
			}
			switch n := n.(type) {
			case *ast.CallExpr, *ast.SelectorExpr, *ast.IndexExpr:
				if asked == "" && at() {
					asked = types.ExprString(n.(ast.Expr))
				}
			case *ast.IfStmt:
				if asked != "" && before(end.Line, end.Column, p.Fset.PositionFor(n.Cond.Pos(), false)) {
					again = again || holds(n.Cond, asked)
				}
			}
			return true
		})
	}
	return again
}

// holds reports whether a part of e has the text.
func holds(e ast.Expr, text string) (found bool) {
	ast.Inspect(e, func(n ast.Node) bool {
		x, ok := n.(ast.Expr)
		found = found || ok && types.ExprString(x) == text
		return !found
	})
	return found
}
