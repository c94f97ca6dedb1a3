package strategy

import (
	"go/ast"
	"go/token"
	"unicode"

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

// useOneLoad has an if statement that tests the variable, and uses it as the first thing that is done then, load it
// once: two loads may differ.
//
//	if limit >= 0 {			if limit := int(atomic.LoadInt64(&limit)); limit >= 0 {
//		free(limit)	->		free(limit)
//	}				}
func (w *atomicWriter) useOneLoad() {
	seen := map[*ast.IfStmt]bool{}
	for _, a := range w.problem.Accesses {
		s := enclosingIf(a)
		isOther := s == nil || a.Mode != source.Read || a.Function == nil || w.problem.isTestOnly()
		if isOther || seen[s] || w.done[a.Expr] || source.ListOf(a.File, s) == nil {
			continue
		}
		seen[s] = true
		reads := w.readsIn(a, s)
		if len(reads) < 2 || s.Init != nil {
			continue
		}
		names, name := source.NewNames(a.Function), lastWord(source.NameOf(a.Expr).Name)
		if source.UsedNames(a.Function)[name] {
			name = names.NameFor(a.Expr)
		}
		name = names.Fresh(name)
		at, text := a.File.Offset(s.Cond.Pos()), name+" := "+w.load(a)+"; "
		w.edits.Add(a.File, at, at, func() string { return text })
		for _, r := range reads {
			w.edits.Replace(r.File, r.Expr, name)
			w.done[r.Expr] = true
		}
	}
}

// readsIn returns the reads of the variable in the condition of an if statement and in the first statement behind it,
// by the same words; nil if one there is something else, or something runs before it.
func (w *atomicWriter) readsIn(a *source.Access, s *ast.IfStmt) (reads []*source.Access) {
	parts := []ast.Node{s.Cond}
	if len(s.Body.List) > 0 && !mayRun(s.Cond) { // what the condition calls may change the variable
		switch first := s.Body.List[0].(type) {
		case *ast.ReturnStmt, *ast.ExprStmt, *ast.AssignStmt:
			parts = append(parts, first)
		}
	}
	for _, other := range w.problem.Accesses {
		for _, part := range parts {
			if other.File != a.File || other.Expr.Pos() < part.Pos() || other.Expr.End() > part.End() {
				continue
			}
			isSame := other.Function == a.Function && a.File.Text(other.Expr) == a.File.Text(a.Expr)
			if other.Mode != source.Read || !isSame || other.Whole != other.Expr || runsBefore(a.File, part, other.Expr) {
				return nil
			}
			reads = append(reads, other)
		}
	}
	return reads
}

// lastWord returns the last word of a name: limit of requestBodyPoolSizeLimit.
func lastWord(name string) string {
	for i := len(name) - 1; i > 0; i-- {
		if unicode.IsUpper(rune(name[i])) && !unicode.IsUpper(rune(name[i-1])) {
			return source.LowerFirst(name[i:])
		}
	}
	return source.LowerFirst(name)
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

// mayRun reports whether an expression calls or receives anything.
func mayRun(e ast.Expr) (found bool) {
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			found = true
		case *ast.UnaryExpr:
			found = found || n.Op == token.ARROW
		}
		return !found
	})
	return found
}
