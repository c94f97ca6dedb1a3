package lostunlock

import (
	"fmt"
	"go/ast"
	"go/token"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/check"
	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
	"github.com/interlock-go/interlock/analyzers/pass/lockset"
)

// reportWays reports the ways through a loop, and those out of a function that meet others at one return, on
// which a lock is kept:
//
//	for _, s := range all {
//		s.mu.Lock()
//		if s.closed {
//			continue
//		}
//		…
//		s.mu.Unlock()
//	}
func (c *checker) reportWays(fn *ssa.Function, work *ir.Work) {
	for _, k := range c.locks.Kept(fn, work) {
		if k.Class == "" || c.reported[k.Since] ||
			c.locks.HandedOn(fn, k.Class) || c.locks.ReleasedElsewhere(k.Class) {
			continue
		}
		path := k.Path.String()
		lock := check.Lock(c.prog, fn, k.Class, path)
		title, what := "a round of the loop leaves %s locked", "Other rounds of the loop in %s unlock %s; this one does not"
		if k.Return != nil {
			title, what = "a way out leaves %s locked", "Other ways out of %s unlock %s; this one does not"
		}
		at := leaving(fn, k)
		side := check.SideAt(c.prog, fn, at, finding.Leave, path)
		side.Locks = []string{k.String()}
		f := &finding.Finding{
			Title:    fmt.Sprintf(title, check.ShortName(lock)),
			Message:  fmt.Sprintf(what+", so that the next Lock waits forever.", c.prog.FuncName(fn), path),
			Variable: lock,
			Accesses: []finding.Access{side, check.Side(c.prog, fn, k.Since, check.LockMode(k.Read), path)},
		}
		c.reporter.ReportAt(f, at, check.Note{Pos: k.Since.Pos(), Text: path + " is locked here"})
	}
}

// leaving returns where the way k leaves the others: at the statement by which the body of its if or case ends, or
// at the condition.
func leaving(fn *ssa.Function, k lockset.Kept) token.Pos {
	cond := k.Branch.Cond.Pos()
	if !cond.IsValid() {
		return k.Since.Pos()
	}
	at := cond
	ast.Inspect(fn.Syntax(), func(n ast.Node) bool {
		// The body that the way leads into.
		var body []ast.Stmt
		switch n := n.(type) {
		case *ast.IfStmt:
			if within(n.Cond, cond) && entered([]ast.Expr{n.Cond}, k) {
				body = n.Body.List
			}
		case *ast.CaseClause:
			if slices.ContainsFunc(n.List, func(e ast.Expr) bool { return within(e, cond) }) && entered(n.List, k) {
				body = n.Body
			}
		}
		if len(body) == 0 {
			return true
		}
		switch last := body[len(body)-1].(type) {
		case *ast.BranchStmt:
			if last.Tok != token.FALLTHROUGH {
				at = last.Pos()
			}
		case *ast.ReturnStmt:
			at = last.Pos()
		}
		return false
	})
	return at
}

func within(e ast.Expr, at token.Pos) bool { return e.Pos() <= at && at < e.End() }

// entered reports whether the way k leads into the body of the if or case with these conditions.
func entered(list []ast.Expr, k lockset.Kept) bool {
	into := k.Holds
	for _, e := range list {
		ast.Inspect(e, func(n ast.Node) bool {
			if not, ok := n.(*ast.UnaryExpr); ok && not.Op == token.NOT && within(not.X, k.Branch.Cond.Pos()) {
				into = !into
			}
			return true
		})
	}
	return into
}
