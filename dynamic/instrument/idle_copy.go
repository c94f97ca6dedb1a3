package instrument

import (
	"go/ast"
	"go/token"

	"github.com/interlock-go/interlock/atomicsets/sites"
	"github.com/interlock-go/interlock/dynamic/instrument/internal/textedit"
)

// Code that takes no time worth speaking of may ask once, where it begins,
// whether any window is open: if none is, its original text runs.
//
//	for p.pos < len(p.src) {    for  {
//		p.pos++                     if rt.Idle() { if !(p.pos < len(p.src)) { break }; p.pos++
//	}                               } else { if !((*rt.R(&p.pos, 1)) < len((*rt.R(&p.src, 2)))) { break };
//	                                    (*rt.W(&p.pos, 3))++ }
//	                            }
//
// That is the body of a function or an iteration of a loop which calls,
// receives and loops nowhere. A window that opens while it runs is as good as
// one that opens just after it. Where windows are held throughout, the second
// copy tests the address, as everywhere.

// worthTwice is the least number of accesses for which code is copied.
const worthTwice = 2

// copyIdle makes two copies of the statements of body, the first without the
// monitor's calls; cond, if not nil, is the condition of a loop that has body.
// All edits inside must have been made.
func (r *rewriter) copyIdle(cond ast.Expr, body *ast.BlockStmt) {
	worth := r.callsIn(cond)+r.callsIn(body) >= worthTwice
	if !worth || !r.immediate(cond) || !r.immediate(body) || r.renamesLines(body) || r.sections.Watches(body) {
		return
	}
	first := []textedit.Piece{textedit.Textf(" if %srt.Idle() {", r.Prefix)}
	second := []textedit.Piece{textedit.Text("} else {")}
	if cond != nil {
		moved := r.CutWhole(cond)
		first = append(first, textedit.Text(" if !("), r.Original(cond.Pos(), cond.End()), textedit.Text(") { break };"))
		second = append(second, textedit.Text(" if !("), textedit.BodyOf(moved), textedit.Text(") { break };"))
	}
	first = append(first, r.Original(body.Lbrace+1, body.Rbrace))
	r.Wrap(body.Lbrace, body.Lbrace+1, textedit.RankStmt, nil, append(first, second...))
	r.Wrap(body.Rbrace, body.Rbrace+1, textedit.RankStmt, []textedit.Piece{textedit.Text("}; ")}, nil)
}

// callsIn counts the monitor's calls that n has.
func (r *rewriter) callsIn(n ast.Node) int {
	count := 0
	for _, a := range r.Accesses {
		if n != nil && a.Unmonitored == "" && n.Pos() <= a.Node.Pos() && a.Node.End() <= n.End() {
			count++
		}
	}
	return count
}

// renamesLines reports whether line directives of the user stand in n: the lines
// behind a copy would have the wrong file.
func (r *rewriter) renamesLines(n ast.Node) bool {
	fset := r.Pkg.Fset
	from, to := fset.Position(n.Pos()), fset.Position(n.End())
	return from.Filename != to.Filename || to.Line-from.Line != r.Line(n.End())-r.Line(n.Pos())
}

// immediate reports whether n calls nothing but builtins that are done at once, waits for
// nothing, does not loop, and may be written twice.
func (r *rewriter) immediate(n ast.Node) bool {
	ok := true
	if n == nil {
		return ok
	}
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			ok = ok && (r.Info.Types[n.Fun].IsType() || immediateBuiltin(sites.Builtin(r.Info, n.Fun)))
		case *ast.UnaryExpr:
			ok = ok && n.Op != token.ARROW
		case *ast.BranchStmt:
			ok = ok && n.Tok != token.GOTO
		case *ast.FuncLit, *ast.SendStmt, *ast.SelectStmt, *ast.ForStmt, *ast.RangeStmt, *ast.LabeledStmt, *ast.TypeSpec:
			ok = false
		}
		return ok
	})
	return ok
}

func immediateBuiltin(name string) bool {
	switch name {
	case "", "append", "clear", "copy", "print", "println", "recover":
		return false
	}
	return true
}
