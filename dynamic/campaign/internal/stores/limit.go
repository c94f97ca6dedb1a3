package stores

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"

	"github.com/interlock-go/interlock/atomicsets/plan"
	"github.com/interlock-go/interlock/atomicsets/sites"
	"github.com/interlock-go/interlock/dynamic/evidence"
)

// A number that is tested by size, or against a number that is not zero, has a limit, which may be meant to be about
// that. That there is something, or as much as the end takes, is no limit:
//
//	if len(p.idle) < p.max { p.idle = append(p.idle, c) }   // a limit
//	if p.n > 0 { p.n-- }                                    // none
//	if a.balance >= n { a.balance -= n }                    // none

// hasLimit reports whether the test of the section compares a number with a limit, or the other operand is not found in
// the source.
func (src *Source) hasLimit(section *plan.Section, s *evidence.SplitSection) bool {
	entry, end := src.places(section, s)
	site := src.Plan.Site(section.Entry)
	for _, p := range src.Packages {
		for _, f := range p.Files {
			if !IsFile(p, f, entry.File) {
				continue
			}
			if c, ok := findComparison(p, f, entry); ok {
				return c.isLimit(p, f, end)
			}
		}
	}
	if section.EntryCall != nil { // the callee compares
		for _, p := range src.Packages {
			for _, f := range p.Files {
				if !IsFile(p, f, site.File) {
					continue
				}
				if c, ok := findComparison(p, f, site); ok {
					return c.isLimit(p, f, end)
				}
			}
		}
	}
	return section.Length || isNumber(site.Scalar)
}

// isNumber reports whether a site of that scalar kind holds a number.
func isNumber(scalar string) bool {
	switch scalar {
	case "", "bool", "pointer", "chan", "map", "func", "unsafe.Pointer":
		return false
	}
	return true
}

// comparison is the comparison of the tested value.
type comparison struct {
	op     token.Token // with the tested value on the left
	other  ast.Expr
	number bool // numbers are compared
}

// findComparison finds the comparison that the access at a place goes into: one around it, or one of the local
// variable that it is stored in.
func findComparison(p *sites.Package, f *ast.File, at *plan.Site) (found comparison, ok bool) {
	var local types.Object
	var fn *ast.FuncDecl
	// The innermost comparison around the access, or the variable that it is stored in.
	ast.Inspect(f, func(n ast.Node) bool {
		if n == nil || !covers(p.Fset, n, at) {
			return n == f
		}
		switch n := n.(type) {
		case *ast.FuncDecl:
			fn = n
		case *ast.BinaryExpr:
			if isComparison(n.Op) {
				found, ok = compared(p, n, covers(p.Fset, n.X, at)), true
			}
		case *ast.AssignStmt:
			if id, isIdent := n.Lhs[0].(*ast.Ident); isIdent && covers(p.Fset, n.Rhs[0], at) {
				local = p.Info.ObjectOf(id)
			}
		}
		return true
	})
	if ok || local == nil || fn == nil {
		return found, ok
	}
	ast.Inspect(fn, func(n ast.Node) bool {
		if b, isBinary := n.(*ast.BinaryExpr); isBinary && !ok && isComparison(b.Op) {
			for _, left := range []bool{true, false} {
				side := b.Y
				if left {
					side = b.X
				}
				if mentions(p, side, local) {
					found, ok = compared(p, b, left), true
				}
			}
		}
		return !ok
	})
	return found, ok
}

func isComparison(op token.Token) bool {
	switch op {
	case token.EQL, token.NEQ, token.LSS, token.LEQ, token.GTR, token.GEQ:
		return true
	}
	return false
}

// compared returns the comparison with the tested side, which is the left one or the right one.
func compared(p *sites.Package, b *ast.BinaryExpr, left bool) comparison {
	mirrored := map[token.Token]token.Token{
		token.LSS: token.GTR, token.GTR: token.LSS, token.LEQ: token.GEQ, token.GEQ: token.LEQ,
	}
	c := comparison{op: b.Op, other: b.Y, number: isNumeric(p.Info.TypeOf(b.X)) || isNumeric(p.Info.TypeOf(b.Y))}
	if !left {
		c.other = b.X
		if m, ok := mirrored[b.Op]; ok {
			c.op = m
		}
	}
	return c
}

func isNumeric(t types.Type) bool {
	if t == nil {
		return false
	}
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsNumeric != 0
}

// mentions reports whether the variable is a part of e.
func mentions(p *sites.Package, e ast.Expr, v types.Object) (found bool) {
	ast.Inspect(e, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		found = found || ok && p.Info.Uses[id] == v
		return !found
	})
	return found
}

// isLimit reports whether the comparison, which decides about the end, is with a limit.
func (c *comparison) isLimit(p *sites.Package, f *ast.File, end *plan.Site) bool {
	if !c.number || c.asksForNone(p) {
		return false
	}
	return !takesAmount(p, f, c.other, end)
}

// asksForNone reports whether the comparison separates zero from the rest.
func (c *comparison) asksForNone(p *sites.Package) bool {
	v := p.Info.Types[c.other].Value
	if v == nil || v.Kind() != constant.Int {
		return false
	}
	switch n, _ := constant.Int64Val(v); c.op {
	case token.LSS, token.GEQ:
		return n == 0 || n == 1
	default:
		return n == 0
	}
}

// takesAmount reports whether the statement at the end names the value that was compared with: so much is taken.
func takesAmount(p *sites.Package, f *ast.File, amount ast.Expr, end *plan.Site) (found bool) {
	id, ok := ast.Unparen(amount).(*ast.Ident)
	if !ok || !IsFile(p, f, end.File) {
		return false
	}
	ast.Inspect(f, func(n ast.Node) bool {
		if n == nil || !covers(p.Fset, n, end) {
			return n == f
		}
		switch n := n.(type) {
		case *ast.AssignStmt:
			found = found || assignsLess(p, n, p.Info.ObjectOf(id))
		case *ast.CallExpr:
			for _, arg := range n.Args {
				found = found || !covers(p.Fset, arg, end) && mentions(p, arg, p.Info.ObjectOf(id))
			}
		}
		return true
	})
	return found
}

// assignsLess reports whether the assignment stores a difference with the amount: x -= amount, x = y - amount.
func assignsLess(p *sites.Package, n *ast.AssignStmt, amount types.Object) bool {
	if n.Tok == token.SUB_ASSIGN {
		return mentions(p, n.Rhs[0], amount)
	}
	b, ok := ast.Unparen(n.Rhs[0]).(*ast.BinaryExpr)
	return ok && n.Tok == token.ASSIGN && b.Op == token.SUB && mentions(p, b.Y, amount)
}
