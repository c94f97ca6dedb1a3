package instrument

import (
	"go/ast"
	"go/types"
	"slices"

	"github.com/interlock-go/interlock/atomicsets/plan"
	"github.com/interlock-go/interlock/atomicsets/sites"
)

// NotFirst is why a section cannot be opened whose entry lies in a callee. The first
// access of its site since the statement began counts as the entry, and another call
// of the statement may make one before, which is asked something else:
//
//	if pending() > 1 && p.count() < p.max || p.count() == 0 {
const NotFirst plan.Reason = "another call in the statement of the entry may make its access before"

// mayNotBeFirst reports whether a call that is evaluated in the statement of o's
// entry before it may come to the entry's access. Only functions of the tables of
// quiet ones, and those of sync/atomic, certainly do not.
func (r *rewriter) mayNotBeFirst(o *opening) (found bool) {
	entry, ok := o.entry.(*ast.CallExpr)
	s := r.statement(o.entry)
	if !ok || o.entryAt != nil || s == nil {
		return false
	}
	ast.Inspect(s, func(n ast.Node) bool {
		if c, ok := n.(*ast.CallExpr); ok && c != entry && c.End() <= entry.End() {
			found = found || r.mayRunOurs(c)
		}
		return !found
	})
	return found
}

// mayRunOurs reports whether code of the module may run in the call.
func (r *rewriter) mayRunOurs(c *ast.CallExpr) bool {
	if r.info.Types[c.Fun].IsType() || sites.Builtin(r.info, c.Fun) != "" {
		return false
	}
	f := calledFunc(r.info, c)
	if f == nil || f.Pkg() == nil || f.Pkg().Path() != "sync/atomic" && !isKnownQuiet(f) {
		return true
	}
	return slices.ContainsFunc(c.Args, func(arg ast.Expr) bool {
		_, function := under(r.info.TypeOf(arg)).(*types.Signature)
		return function
	})
}
