package strategy

import (
	"go/ast"
	"go/token"

	"golang.org/x/tools/go/types/typeutil"

	"github.com/interlock-go/interlock/patchgen/internal/source"
)

// useResults has reads that directly follow an addition take the value that the addition returns: two atomic steps
// would not be one.
//
//	atomic.AddInt64(&n, 1)		added := atomic.AddInt64(&n, 1)
//	return n			return added
//
//	x.n++				n := x.n.Add(1)
//	if x.n > most {			if n > most {
func (w *atomicWriter) useResults() {
	for _, a := range w.problem.Accesses {
		s, call := w.addition(a)
		if s == nil || a.Function == nil {
			continue
		}
		reads := w.readsBehind(a, s)
		if len(reads) == 0 {
			continue
		}
		name := source.NewNames(a.Function).For(a.Expr)
		w.edits.Replace(a.File, s, name+" := "+call)
		w.done[a.Expr] = true
		for _, r := range reads {
			w.edits.Replace(r.File, r.Expr, name)
			w.done[r.Expr] = true
		}
	}
}

// addition returns the statement that adds to the variable at a, and the atomic call that does so; nil elsewhere.
func (w *atomicWriter) addition(a *source.Access) (s ast.Stmt, call string) {
	file := a.File
	switch parent := file.Parents[a.Expr].(type) {
	// x.n++
	case *ast.IncDecStmt:
		if parent.Tok != token.INC || w.elem == "Pointer" || a.Whole != a.Expr {
			return nil, ""
		}
		if call = w.call(a, "Add", "1"); w.back != "" {
			call = w.back + "(" + call + ")"
		}
		return parent, call
	// atomic.AddInt64(&x.n, 1)
	case *ast.UnaryExpr:
		add, isCall := file.Parents[parent].(*ast.CallExpr)
		if !isCall || !w.functions || a.Mode != source.Atomic {
			return nil, ""
		}
		f := typeutil.StaticCallee(file.Package.Info, add)
		if f == nil || f.FullName() != "sync/atomic.Add"+w.elem {
			return nil, ""
		}
		if alone, isAlone := file.Parents[add].(*ast.ExprStmt); isAlone {
			return alone, file.Text(add)
		}
	}
	return nil, ""
}

// readsBehind returns the reads of the same variable in the statement behind s, where nothing runs in between that may
// wait for a change of it; nil if one of its accesses there is something else.
func (w *atomicWriter) readsBehind(a *source.Access, s ast.Stmt) (reads []*source.Access) {
	list := source.ListOf(a.File, s)
	var next ast.Node
	for i, other := range list {
		if other == s && i+1 < len(list) {
			next = list[i+1]
		}
	}
	// Of a condition the branches are other statements, which may be far away in time.
	switch n := next.(type) {
	case *ast.IfStmt:
		if next = n.Cond; n.Init != nil {
			return nil
		}
	case *ast.ReturnStmt, *ast.ExprStmt, *ast.AssignStmt:
	default:
		return nil
	}
	for _, other := range w.problem.Accesses {
		if other.File != a.File || other.Expr.Pos() < next.Pos() || other.Expr.End() > next.End() {
			continue
		}
		isSame := other.Function == a.Function && a.File.Text(other.Expr) == a.File.Text(a.Expr)
		if other.Mode != source.Read || !isSame || other.Whole != other.Expr || runsBefore(a.File, next, other.Expr) {
			return nil
		}
		reads = append(reads, other)
	}
	return reads
}

// runsBefore reports whether n calls or receives before it evaluates e: the variable may have changed by then.
func runsBefore(file *source.File, n ast.Node, e ast.Expr) (found bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		if n == nil || n.Pos() >= e.Pos() || found {
			return false
		}
		if n.End() <= e.Pos() {
			receive, _ := n.(*ast.UnaryExpr)
			call, _ := n.(*ast.CallExpr)
			found = receive != nil && receive.Op == token.ARROW || call != nil && !file.Package.Info.Types[call.Fun].IsType()
		}
		return true
	})
	return found
}
