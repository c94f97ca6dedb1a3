package sites

import (
	"go/ast"
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
	if importsC(f) {
		return nil
	}
	w := &walker{pkg: p, info: p.Info, file: f, linknames: linknames(f)}
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && neverInstrument(fn, w.linknames) {
			continue
		}
		ast.Inspect(d, func(n ast.Node) bool {
			for _, s := range listOf(n) {
				if run, ok := w.forked(s); ok {
					all = append(all, w.fork(s, run))
				}
			}
			return true
		})
	}
	return all
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

func (w *walker) fork(s ast.Stmt, run ast.Expr) Fork {
	from := w.position(s.Pos())
	from.Filename = w.relative(from.Filename)
	fork := Fork{ID: lockID(from, w.position(s.End())), Stmt: s}
	if lit, ok := ast.Unparen(run).(*ast.FuncLit); ok {
		fork.Body = lit.Body
	}
	return fork
}
