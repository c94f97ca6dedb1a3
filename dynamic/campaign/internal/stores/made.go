package stores

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/interlock-go/interlock/atomicsets/plan"
	"github.com/interlock-go/interlock/atomicsets/sites"
)

// Writes to an object by the function that makes it, before it hands it on, do not make two that were made alike
// differ:
//
//	e := &Entry{m: map[string]int{}}
//	e.m["a"] = 1
//	return e

// mapsChange reports whether entries of maps of the type are written other than by the function that makes the map.
// Missed: writes by package maps and by generic code.
func (src *Source) mapsChange(of types.Type) (changes bool) {
	for _, p := range src.Packages {
		for _, f := range p.Files {
			ast.Inspect(f, func(n ast.Node) bool {
				for _, m := range writtenMaps(p.Info, n) {
					t := p.Info.TypeOf(m)
					changes = changes || t != nil && types.Identical(t.Underlying(), of.Underlying()) && !isMadeHere(p, f, m)
				}
				return !changes
			})
		}
	}
	return changes
}

// writtenMaps returns the maps that a statement or call writes entries of.
func writtenMaps(info *types.Info, n ast.Node) (maps []ast.Expr) {
	add := func(e ast.Expr) {
		if index, ok := ast.Unparen(e).(*ast.IndexExpr); ok {
			if t := info.TypeOf(index.X); t != nil && isMap(t) {
				maps = append(maps, index.X)
			}
		}
	}
	switch n := n.(type) {
	case *ast.AssignStmt:
		for _, e := range n.Lhs {
			add(e)
		}
	case *ast.IncDecStmt:
		add(n.X)
	case *ast.CallExpr:
		fun, ok := ast.Unparen(n.Fun).(*ast.Ident)
		if b, builtin := info.Uses[fun].(*types.Builtin); ok && builtin && (b.Name() == "delete" || b.Name() == "clear") &&
			isMap(info.TypeOf(n.Args[0])) {
			maps = append(maps, n.Args[0])
		}
	}
	return maps
}

func isMap(t types.Type) bool {
	_, ok := t.Underlying().(*types.Map)
	return ok
}

// inMaking reports whether the write at a site is to an object that its function has made and not handed on.
func (src *Source) inMaking(site *plan.Site) (found bool) {
	for _, p := range src.Packages {
		for _, f := range p.Files {
			if !IsFile(p, f, site.File) {
				continue
			}
			ast.Inspect(f, func(n ast.Node) bool {
				if n == nil || !covers(p.Fset, n, site) {
					return n == f
				}
				switch n := n.(type) {
				case *ast.AssignStmt:
					for _, e := range n.Lhs {
						found = found || covers(p.Fset, e, site) && isMadeHere(p, f, ownerOf(e))
					}
				case *ast.IncDecStmt:
					found = found || covers(p.Fset, n.X, site) && isMadeHere(p, f, ownerOf(n.X))
				}
				return true
			})
		}
	}
	return found
}

// ownerOf returns the operand that an assignment writes a field or an element of, or e itself.
func ownerOf(e ast.Expr) ast.Expr {
	switch e := ast.Unparen(e).(type) {
	case *ast.SelectorExpr:
		return e.X
	case *ast.IndexExpr:
		return e.X
	}
	return e
}

// isMadeHere reports whether e, as far as it is a local or a field of one, is an object that its function has made, and
// has not handed on before it comes to e.
func isMadeHere(p *sites.Package, f *ast.File, e ast.Expr) bool {
	root := ast.Unparen(e)
	if sel, ok := root.(*ast.SelectorExpr); ok {
		root = ast.Unparen(sel.X)
	}
	id, ok := root.(*ast.Ident)
	if !ok {
		return false
	}
	local, ok := p.Info.ObjectOf(id).(*types.Var)
	if !ok || local.IsField() {
		return false
	}
	made := false
	operands := map[*ast.Ident]bool{} // uses that hand nothing on
	ast.Inspect(innermost(f, e.Pos()), func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for i, lhs := range n.Lhs {
				if x, ok := lhs.(*ast.Ident); ok && p.Info.ObjectOf(x) == local {
					made = len(n.Lhs) == len(n.Rhs) && isNew(p.Info, n.Rhs[i]) && (made || n.Tok == token.DEFINE)
					operands[x] = made
				}
			}
		case *ast.SelectorExpr:
			addOperand(operands, n.X)
		case *ast.IndexExpr:
			addOperand(operands, n.X)
		case *ast.Ident:
			if p.Info.Uses[n] == local && !operands[n] && n.Pos() < e.Pos() {
				made = false
			}
		}
		return true
	})
	return made
}

func addOperand(operands map[*ast.Ident]bool, e ast.Expr) {
	if x, ok := ast.Unparen(e).(*ast.Ident); ok {
		operands[x] = true
	}
}

// innermost returns the body of the innermost function around a position, or the file.
func innermost(f *ast.File, at token.Pos) (body ast.Node) {
	body = f
	ast.Inspect(f, func(n ast.Node) bool {
		if n == nil || at < n.Pos() || at >= n.End() {
			return false
		}
		switch n := n.(type) {
		case *ast.FuncDecl:
			body = n
		case *ast.FuncLit:
			body = n
		}
		return true
	})
	return body
}

// isNew reports whether the expression is of an object that nobody else has: a composite literal, its address, make or
// new.
func isNew(info *types.Info, e ast.Expr) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.CompositeLit:
		return true
	case *ast.UnaryExpr:
		_, ok := ast.Unparen(e.X).(*ast.CompositeLit)
		return ok && e.Op == token.AND
	case *ast.CallExpr:
		fun, ok := ast.Unparen(e.Fun).(*ast.Ident)
		if !ok {
			return false
		}
		b, ok := info.Uses[fun].(*types.Builtin)
		return ok && (b.Name() == "make" || b.Name() == "new")
	}
	return false
}
