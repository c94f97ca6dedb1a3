package sites

import (
	"go/ast"
	"go/token"
	"go/types"
)

// Fork is a statement that starts a goroutine: go f(), or wg.Go(f) of a WaitGroup or an errgroup.
type Fork struct {
	ID   uint64 // that of the place, in all builds of the module; not 0
	Stmt ast.Stmt
	// Body is that of the function that the goroutine runs, where the statement has it, or nil.
	Body *ast.BlockStmt
}

// forking are the methods that start a goroutine for the function that they get.
var forking = map[string]bool{
	"(*sync.WaitGroup).Go":                   true,
	"(*golang.org/x/sync/errgroup.Group).Go": true,
}

// Forks returns the statements of f, a file of p, that start goroutines. Those in files that
// import "C" and in functions with a directive that forbids calls are left out.
func Forks(p *Package, f *ast.File) (all []Fork) {
	eachStatement(p, f, func(w *walker, _ ast.Node, s ast.Stmt) {
		if run, ok := w.forked(s); ok {
			all = append(all, w.forkOf(s, run))
		}
	})
	return all
}

// eachStatement calls visit for each statement of f, with the node that has it in its list. It leaves out files
// that import "C" and functions with a directive that forbids calls.
func eachStatement(p *Package, f *ast.File, visit func(w *walker, in ast.Node, s ast.Stmt)) {
	if importsC(f) {
		return
	}
	w := &walker{pkg: p, info: p.Info, file: f, linknames: linknames(f)}
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && neverInstrument(fn, w.linknames) {
			continue
		}
		ast.Inspect(d, func(n ast.Node) bool {
			for _, s := range listOf(n) {
				visit(w, n, s)
			}
			return true
		})
	}
}

// listOf returns the statements of n behind which others may follow.
func listOf(n ast.Node) []ast.Stmt {
	switch n := n.(type) {
	case *ast.BlockStmt:
		return n.List
	case *ast.CaseClause:
		return n.Body
	case *ast.CommClause:
		return n.Body
	case *ast.LabeledStmt:
		return []ast.Stmt{n.Stmt}
	}
	return nil
}

// forked returns the function that the goroutine runs which s starts.
func (w *walker) forked(s ast.Stmt) (run ast.Expr, ok bool) {
	switch s := s.(type) {
	case *ast.GoStmt:
		return s.Call.Fun, true
	case *ast.ExprStmt:
		call, isCall := ast.Unparen(s.X).(*ast.CallExpr)
		if !isCall || len(call.Args) != 1 {
			return nil, false
		}
		sel, isSelector := ast.Unparen(call.Fun).(*ast.SelectorExpr)
		if !isSelector {
			return nil, false
		}
		fn, isFunc := w.info.Uses[sel.Sel].(*types.Func)
		return call.Args[0], isFunc && forking[fn.FullName()]
	}
	return nil, false
}

func (w *walker) forkOf(s ast.Stmt, run ast.Expr) Fork {
	fork := Fork{ID: w.statementID(s), Stmt: s}
	if lit, ok := ast.Unparen(run).(*ast.FuncLit); ok {
		fork.Body = lit.Body
	}
	return fork
}

// statementID returns the number of the place of s.
func (w *walker) statementID(s ast.Stmt) uint64 {
	from := w.position(s.Pos())
	from.Filename = w.relative(from.Filename)
	return lockID(from, w.position(s.End()))
}

// Wait is a statement in which a goroutine may wait for a message or a signal: a receive, a loop over a channel, a
// select without a default, or Wait of a sync.Cond.
type Wait struct {
	ID   uint64 // that of the place, in all builds of the module; not 0
	Stmt ast.Stmt
}

// Waits returns the statements of f, a file of p, that may wait so, where another statement may come before. Those in
// files that import "C" and in functions with a directive that forbids calls are left out.
func Waits(p *Package, f *ast.File) (all []Wait) {
	eachStatement(p, f, func(w *walker, in ast.Node, s ast.Stmt) {
		_, labelled := in.(*ast.LabeledStmt) // the label has to stay with its statement
		if !labelled && w.mayWait(s) {
			all = append(all, Wait{w.statementID(s), s})
		}
	})
	return all
}

// mayWait reports whether s may wait, apart from statements inside it.
func (w *walker) mayWait(s ast.Stmt) (found bool) {
	if l, labelled := s.(*ast.LabeledStmt); labelled {
		return w.mayWait(l.Stmt)
	}
	ast.Inspect(s, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit, *ast.BlockStmt, *ast.CaseClause, *ast.CommClause:
			return false
		case *ast.SelectStmt:
			for _, c := range n.Body.List {
				if c.(*ast.CommClause).Comm == nil {
					return false
				}
			}
			found = true
		case *ast.UnaryExpr:
			found = found || n.Op == token.ARROW
		case *ast.RangeStmt:
			if t := w.info.TypeOf(n.X); t != nil {
				_, ok := t.Underlying().(*types.Chan)
				found = found || ok
			}
		case *ast.SelectorExpr:
			fn, ok := w.info.Uses[n.Sel].(*types.Func)
			found = found || ok && fn.FullName() == "(*sync.Cond).Wait"
		}
		return true
	})
	return found
}
