package crossing

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/interlock-go/interlock/atomicsets/sites"
)

// Tests reports whether the source tests the value that is read in line first, before it reaches line last:
//
//	if c.open() {          n := c.len()
//	                       if n == 0 {
func Tests(pkgs []*sites.Package, file string, first, last int) (tests bool) {
	for _, p := range pkgs {
		for _, f := range p.Files {
			if p.Fset.PositionFor(f.Package, false).Filename == file {
				t := tester{p, first, last, map[types.Object]bool{}}
				ast.Inspect(f, func(n ast.Node) bool {
					tests = tests || t.isTest(n)
					return !tests
				})
				return tests
			}
		}
	}
	return false
}

// tester is the state of Tests.
type tester struct {
	*sites.Package
	first, last int
	read        map[types.Object]bool // variables with a value that was read in the first line
}

// isTest reports whether a node tests the value that was read. Nodes come in the order of the source.
func (t *tester) isTest(n ast.Node) bool {
	switch n := n.(type) { // statements that store the value in a variable, then those that test it
	case *ast.AssignStmt:
		if t.covers(n, t.first) {
			for _, e := range n.Lhs {
				if id, ok := e.(*ast.Ident); ok && t.Info.ObjectOf(id) != nil {
					t.read[t.Info.ObjectOf(id)] = true
				}
			}
		}
	case *ast.RangeStmt:
		if t.covers(n.X, t.first) {
			for _, e := range []ast.Expr{n.Key, n.Value} {
				if id, ok := e.(*ast.Ident); ok && t.Info.ObjectOf(id) != nil {
					t.read[t.Info.ObjectOf(id)] = true
				}
			}
		}
	case *ast.IfStmt:
		return t.decides(n.Init, n.Cond)
	case *ast.ForStmt:
		return t.decides(n.Cond)
	case *ast.SwitchStmt:
		return t.decides(n.Init, n.Tag)
	case *ast.CaseClause:
		for _, e := range n.List {
			if t.decides(e) {
				return true
			}
		}
	}
	return false
}

// decides reports whether the parts of a test have the value that is read in the first line.
func (t *tester) decides(parts ...ast.Node) (decides bool) {
	for _, part := range parts {
		if isNil(part) || t.line(part.Pos()) > t.last {
			continue
		}
		if t.covers(part, t.first) {
			return true
		}
		ast.Inspect(part, func(n ast.Node) bool {
			id, ok := n.(*ast.Ident)
			decides = decides || ok && t.read[t.Info.ObjectOf(id)]
			return !decides
		})
	}
	return decides
}

// isNil reports whether a part of a statement is missing.
func isNil(n ast.Node) bool {
	switch n := n.(type) {
	case ast.Expr:
		return n == nil
	case ast.Stmt:
		return n == nil
	}
	return n == nil
}

func (t *tester) covers(n ast.Node, line int) bool {
	return t.line(n.Pos()) <= line && line <= t.line(n.End())
}

func (t *tester) line(p token.Pos) int { return t.Fset.PositionFor(p, false).Line }
