package sectionplace

import (
	"go/ast"

	"github.com/interlock-go/interlock/atomicsets/plan"
	"github.com/interlock-go/interlock/dynamic/instrument/internal/handover"
)

// NotFirst is why a section with its entry in a callee cannot be opened. The first
// access of its site since the statement began counts as the entry, and another call
// of the statement may make such an access before, for another purpose:
//
//	if pending() > 1 && p.count() < p.max || p.count() == 0 {
const NotFirst plan.Reason = "another call in the statement of the entry may make its access before"

// mayNotBeFirst reports whether a call that is evaluated in the statement of o's entry before it may come to
// the entry's access:
//
//	if max := p.Cap(); max > p.count() { // Cap, with all that it calls, is another function than count
func (r *Sections) mayNotBeFirst(o *opening, access *plan.Site) (found bool) {
	entry, ok := o.entry.(*ast.CallExpr)
	s := r.Statement(o.entry)
	if !ok || o.entryAt != nil || s == nil {
		return false
	}
	holds := func(fn *ast.FuncDecl) bool { return r.hasAccess(fn, access) }
	ast.Inspect(s, func(n ast.Node) bool {
		if c, ok := n.(*ast.CallExpr); ok && c != entry && c.End() <= entry.End() {
			found = found || handover.Reaches(r.Pkg, c, holds)
		}
		return !found
	})
	return found
}

// hasAccess reports whether the access is in fn.
func (r *Sections) hasAccess(fn *ast.FuncDecl, access *plan.Site) bool {
	from, to := r.Pkg.Fset.PositionFor(fn.Pos(), false), r.Pkg.Fset.PositionFor(fn.End(), false)
	return relative(r.Pkg, from.Filename) == access.File && from.Line <= access.Line && access.Line <= to.Line
}
