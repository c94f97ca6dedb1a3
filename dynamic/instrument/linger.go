package instrument

import (
	"go/ast"
	"go/types"

	"github.com/interlock-go/interlock/atomicsets/sites"
	"github.com/interlock-go/interlock/dynamic/instrument/internal/textedit"
)

// A TestMain of the user's own ends the process when the tests are over, and with it
// goroutines that they have left behind. The monitor waits for these a while:
//
//	os.Exit(m.Run())
//	os.Exit(rt.Linger(rt.Goroutines(), m.Run()))

// testRuns returns the calls of f that run all tests, except deferred and started ones:
// an expression around the call cannot be deferred or started.
func testRuns(p *sites.Package, f *ast.File) (runs []*ast.CallExpr) {
	later := map[*ast.CallExpr]bool{}
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || fn.Recv != nil || fn.Name.Name != "TestMain" || fn.Body == nil {
			continue
		}
		ast.Inspect(fn.Body, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt:
				later[n.Call] = true
			case *ast.DeferStmt:
				later[n.Call] = true
			case *ast.CallExpr:
				if !later[n] && isTestRun(p.Info, n) {
					runs = append(runs, n)
				}
			}
			return true
		})
	}
	return runs
}

// isTestRun reports whether a call is one of method Run of testing.M.
func isTestRun(info *types.Info, call *ast.CallExpr) bool {
	sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok {
		return false
	}
	fn, ok := info.Uses[sel.Sel].(*types.Func)
	return ok && fn.FullName() == "(*testing.M).Run"
}

// lingers has the monitor wait behind the calls that run all tests.
func (r *rewriter) lingers() {
	for _, call := range r.runs {
		r.Wrap(call.Pos(), call.End(), textedit.RankPlace,
			[]textedit.Piece{textedit.Textf("%srt.Linger(%[1]srt.Goroutines(), ", r.Prefix)},
			[]textedit.Piece{textedit.Text(")")})
	}
}
