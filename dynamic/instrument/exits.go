package instrument

import (
	"go/ast"
	"go/types"

	"github.com/interlock-go/interlock/atomicsets/sites"
	"github.com/interlock-go/interlock/dynamic/instrument/internal/textedit"
)

// The counters of the last moments of a program would be lost, so the monitor writes them where the program ends by
// itself:
//
//	func main() { serve() }   func main() { defer rt.Flush(); serve() }
//	os.Exit(run())            os.Exit(rt.Exit(run()))
//
// Missed: ends in functions of the standard library, such as log.Fatal.

// exits are the places of a file where a program ends.
type exits struct {
	main  *ast.BlockStmt  // body of the program's function main, nil where it is elsewhere
	codes []*ast.CallExpr // calls of os.Exit
}

func (e exits) any() bool { return e.main != nil || len(e.codes) > 0 }

// exitsIn returns the places of f where a program ends, except for calls of a test binary after its tests.
func exitsIn(p *sites.Package, f *ast.File) (e exits) {
	for _, d := range f.Decls {
		fn, isFunc := d.(*ast.FuncDecl)
		if isFunc && fn.Recv == nil && fn.Name.Name == "TestMain" {
			continue
		}
		if isFunc && fn.Recv == nil && fn.Name.Name == "main" && f.Name.Name == "main" {
			e.main = fn.Body
		}
		ast.Inspect(d, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok && isExit(p.Info, call) {
				e.codes = append(e.codes, call)
			}
			return true
		})
	}
	return e
}

func isExit(info *types.Info, call *ast.CallExpr) bool {
	sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok || len(call.Args) != 1 {
		return false
	}
	fn, ok := info.Uses[sel.Sel].(*types.Func)
	return ok && fn.FullName() == "os.Exit"
}

// flushes has the monitor write its counters where the program ends.
func (r *rewriter) flushes() {
	if body := r.exits.main; body != nil {
		r.Wrap(body.Lbrace, body.Lbrace+1, textedit.RankStmt, nil,
			[]textedit.Piece{textedit.Textf(" defer %srt.Flush();", r.Prefix)})
	}
	for _, call := range r.exits.codes {
		code := call.Args[0]
		r.Wrap(code.Pos(), code.End(), textedit.RankPlace,
			[]textedit.Piece{textedit.Textf("%srt.Exit(", r.Prefix)}, []textedit.Piece{textedit.Text(")")})
	}
}
