package stores

import (
	"go/ast"
	"go/types"

	"github.com/interlock-go/interlock/atomicsets/plan"
	"github.com/interlock-go/interlock/atomicsets/sites"
	"github.com/interlock-go/interlock/dynamic/evidence"
)

// looksAgain reports whether the function repeats the question of the entry behind the end of the section, so that it
// may undo its change:
//
//	if b.Free() < n { return false }
//	b.Take(n)
//	if b.Free() < 0 { b.Take(-n); return false }
//
// A function of the package that is called there may ask: its conditions name the variable.
func (src *Source) looksAgain(section *plan.Section, s *evidence.SplitSection) bool {
	entry, end := src.places(section, s)
	for _, p := range src.Packages {
		for _, f := range p.Files {
			if end.File == entry.File && IsFile(p, f, end.File) {
				return asksAgain(p, f, entry, end) || calleeAsks(p, f, entry, end, src.Plan.Site(section.Entry).Variable.Name)
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

// calleeAsks reports whether a function of the package that is called behind the end, in the function of the entry, has
// a condition with a field or variable of that name.
func calleeAsks(p *sites.Package, f *ast.File, entry, end *plan.Site, name string) (asks bool) {
	called := map[types.Object]bool{}
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && covers(p.Fset, fn, entry) && covers(p.Fset, fn, end) {
			ast.Inspect(fn, func(n ast.Node) bool {
				id, ok := n.(*ast.Ident)
				if ok && before(end.Line, end.Column, p.Fset.PositionFor(id.Pos(), false)) {
					called[p.Info.Uses[id]] = true
				}
				return true
			})
		}
	}
	for _, g := range p.Files {
		for _, d := range g.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || !called[p.Info.Defs[fn.Name]] {
				continue
			}
			ast.Inspect(fn, func(n ast.Node) bool {
				c, ok := n.(*ast.IfStmt)
				asks = asks || ok && names(c.Cond, name)
				return !asks
			})
		}
	}
	return asks
}

// names reports whether a part of e has the name.
func names(e ast.Expr, name string) (found bool) {
	ast.Inspect(e, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		found = found || ok && id.Name == name
		return !found
	})
	return found
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
