package strategy

import (
	"go/ast"
	"go/token"
	"slices"

	"github.com/interlock-go/interlock/patchgen/internal/source"
)

// setBehind returns how many assignments to fields of the object stand right behind the go statement that a list begins
// with. Where there are several, that moves behind them:
//
//	go w.run()
//	w.done = make(chan struct{})
//	w.ctx, w.cancel = context.WithCancel(ctx)
//
// It returns 0 where the go statement reads more than the object itself: it would read the new values.
func (p *Problem) setBehind(file *source.File, list []ast.Stmt, a *source.Access) int {
	if a.Base == nil {
		return 0
	}
	// The start: w.run() of the object itself, or a literal, with names and constants as arguments.
	root, _ := file.RootOf(a.Base)
	call := list[0].(*ast.GoStmt).Call
	sel, isMethod := call.Fun.(*ast.SelectorExpr)
	if _, isLiteral := call.Fun.(*ast.FuncLit); !isLiteral && !(isMethod && file.Text(sel.X) == file.Text(a.Base)) {
		return 0
	}
	for _, arg := range call.Args {
		if _, isName := arg.(*ast.Ident); !isName && file.Package.Info.Types[arg].Value == nil {
			return 0
		}
	}
	// And the assignments to fields of the object behind it.
	isSet := func(s ast.Stmt) bool {
		assign, ok := s.(*ast.AssignStmt)
		return ok && assign.Tok == token.ASSIGN && p.Facts.Blocks(file, s) == "" &&
			!slices.ContainsFunc(assign.Lhs, func(e ast.Expr) bool {
				field, ok := e.(*ast.SelectorExpr)
				if !ok {
					return true
				}
				of, _ := file.RootOf(field.X)
				return of != root
			})
	}
	n := 1
	for n < len(list) && isSet(list[n]) {
		n++
	}
	return n - 1
}
