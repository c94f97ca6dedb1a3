package sectionplace

import (
	"go/ast"
	"go/token"
	"slices"

	"github.com/interlock-go/interlock/atomicsets/plan"
	"github.com/interlock-go/interlock/dynamic/instrument/internal/handover"
	"github.com/interlock-go/interlock/dynamic/instrument/internal/source"
)

// HandsOver is why a section cannot be opened if its goroutine may hand over before
// another one could split it.
const HandsOver plan.Reason = "may hand over to other goroutines directly behind its entry"

// handsOver reports whether n may hand over.
func (r *Sections) handsOver(n ast.Node) bool {
	return handover.Scan(r.Info, n, func(callee string) bool { return !r.quiet[callee] })
}

// handsOverAt reports whether an expression of s itself may hand over while o is open.
// The statements in s do not count, nor deferred calls, nor the entry or an end that is
// made by sync/atomic.
func (r *Sections) handsOverAt(o *opening, s ast.Stmt) bool {
	own := func(n ast.Node, at *source.Access) bool {
		return at != nil && s.Pos() <= n.Pos() && n.End() <= s.End() && r.atomicName(at) != ""
	}
	atomic := own(o.entry, o.entryAt) || slices.ContainsFunc(o.ends, func(e ending) bool { return own(e.node, e.at) })
	calls := func(callee string) bool { return !r.quiet[callee] && !(atomic && handover.IsAtomic(callee)) }
	hands := func(n ast.Node) bool { return handover.Scan(r.Info, n, calls) }
	return r.receives(s) || slices.ContainsFunc(evaluated(s), hands)
}

// receives reports whether s is a loop that receives or calls, or a select.
func (r *Sections) receives(s ast.Stmt) bool {
	switch s := s.(type) {
	case *ast.LabeledStmt:
		return r.receives(s.Stmt)
	case *ast.RangeStmt:
		return handover.RangesOverOthers(r.Info, s)
	case *ast.SelectStmt:
		return true
	}
	return false
}

// evaluated returns the parts of s that are evaluated at s itself.
func evaluated(s ast.Stmt) (parts []ast.Node) {
	add := func(nodes ...ast.Node) {
		for _, n := range nodes {
			if n != nil {
				parts = append(parts, n)
			}
		}
	}
	stmt := func(s ast.Stmt) {
		if s != nil {
			parts = append(parts, s)
		}
	}
	expr := func(e ast.Expr) {
		if e != nil {
			parts = append(parts, e)
		}
	}
	// The bodies of a statement are statements of their own, and clauses are not.
	switch s := s.(type) {
	case *ast.LabeledStmt:
		return evaluated(s.Stmt)
	case *ast.BlockStmt, *ast.SelectStmt:
	case *ast.IfStmt:
		stmt(s.Init)
		expr(s.Cond)
		if e, ok := s.Else.(*ast.IfStmt); ok {
			add(evaluated(e)...)
		}
	case *ast.SwitchStmt:
		stmt(s.Init)
		expr(s.Tag)
		for _, c := range s.Body.List {
			for _, e := range c.(*ast.CaseClause).List {
				expr(e)
			}
		}
	case *ast.TypeSwitchStmt:
		stmt(s.Init)
		stmt(s.Assign)
	case *ast.ForStmt:
		stmt(s.Init)
		expr(s.Cond)
		stmt(s.Post)
	case *ast.RangeStmt:
		expr(s.X)
	case *ast.DeferStmt:
		for _, e := range s.Call.Args {
			expr(e)
		}
	default:
		stmt(s)
	}
	return parts
}

// handsOverAtOnce reports whether the goroutine of o may hand over in the statement
// of the entry, behind that.
func (r *Sections) handsOverAtOnce(o *opening) bool {
	entry := r.Statement(o.entry)
	return entry != nil && r.handsOverAt(o, entry)
}

// placeHandOvers puts the call ahead of each statement that may hand over while o is
// open, and where a loop goes back to a clause that may. A goto jumps over a call ahead of its target, and so the call
// is ahead of each goto, wherever that leads:
//
//	retry:
//		if ask(ch) > 0 { // may hand over, and nothing can stand between it and its label
//			…
//		}
//		HandOver(1); goto retry
func (r *Sections) placeHandOvers(o *opening, entry ast.Stmt) {
	call := r.callf("HandOver(%d)", o.ID)
	from := r.roundFrom(o, entry)
	hands := r.handsOver(o.body)
	r.inspectBody(o, func(n ast.Node) {
		if b, ok := n.(*ast.BranchStmt); ok && b.Tok == token.GOTO && hands {
			r.ahead(b, asHandOver, call)
			return
		}
		s, ok := n.(ast.Stmt)
		if !ok || s == entry || r.ListOf(s) == nil || !r.handsOverAt(o, s) {
			return
		}
		if s.Pos() >= from {
			r.ahead(s, asHandOver, call)
		}
		if body := loopBody(s); body != nil && body.Pos() <= entry.Pos() && entry.End() <= body.End() {
			r.atEnd(body, call)
			ast.Inspect(body, func(n ast.Node) bool {
				if b, ok := n.(*ast.BranchStmt); ok && b.Tok == token.CONTINUE {
					r.ahead(b, asHandOver, call)
				}
				_, closure := n.(*ast.FuncLit)
				return !closure
			})
		}
	})
}

// loopBody returns the body of s if it is a loop, or nil.
func loopBody(s ast.Stmt) *ast.BlockStmt {
	switch s := s.(type) {
	case *ast.LabeledStmt:
		return loopBody(s.Stmt)
	case *ast.ForStmt:
		return s.Body
	case *ast.RangeStmt:
		return s.Body
	}
	return nil
}
