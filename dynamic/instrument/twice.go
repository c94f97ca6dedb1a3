package instrument

import (
	"go/ast"
	"go/token"

	"github.com/interlock-go/interlock/atomicsets/sites"
)

// Code that takes no time worth speaking of may ask once, where it begins,
// whether any window is open: if none is, its original text runs.
//
//	for p.pos < len(p.src) {    for  {
//		p.pos++                     if rt.Idle() { if !(p.pos < len(p.src)) { break }; p.pos++
//	}                               } else { if !((*rt.R(&p.pos, 1)) < len((*rt.R(&p.src, 2)))) { break }; (*rt.W(&p.pos, 3))++ }
//	                            }
//
// That is the body of a function or an iteration of a loop which calls,
// receives and loops nowhere. A window that opens while it runs is as good as
// one that opens just after it. Where windows are held throughout, the second
// copy tells by the address, as everywhere.

// worthTwice is the least number of accesses for which code is copied.
const worthTwice = 2

// twice makes two copies of the statements of body, the first without the
// monitor's calls; cond, if not nil, is the condition of a loop that has body.
// All edits inside must have been made.
func (r *rewriter) twice(cond ast.Expr, body *ast.BlockStmt) {
	if !r.immediate(cond) || !r.immediate(body) || r.announced(cond)+r.announced(body) < worthTwice || r.renamesLines(body) || r.watches(body) {
		return
	}
	first := []piece{textf(" if %srt.Idle() {", r.prefix)}
	second := []piece{text("} else {")}
	if cond != nil {
		moved := r.cutWhole(cond)
		first = append(first, text(" if !("), r.original(cond.Pos(), cond.End()), text(") { break };"))
		second = append(second, text(" if !("), bodyOf(moved), text(") { break };"))
	}
	first = append(first, r.original(body.Lbrace+1, body.Rbrace))
	r.wrap(body.Lbrace, body.Lbrace+1, rankStmt, nil, append(first, second...))
	r.wrap(body.Rbrace, body.Rbrace+1, rankStmt, []piece{text("}; ")}, nil)
}

// announced counts the monitor's calls that n has.
func (r *rewriter) announced(n ast.Node) int {
	count := 0
	for _, a := range r.accesses {
		if n != nil && a.left == "" && n.Pos() <= a.Node.Pos() && a.Node.End() <= n.End() {
			count++
		}
	}
	return count
}

// renamesLines reports whether line directives of the user stand in n: what is
// behind a copy would have the wrong file.
func (r *rewriter) renamesLines(n ast.Node) bool {
	fset := r.pkg.Fset
	from, to := fset.Position(n.Pos()), fset.Position(n.End())
	return from.Filename != to.Filename || to.Line-from.Line != r.tfile.Line(n.End())-r.tfile.Line(n.Pos())
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
			ok = ok && (r.info.Types[n.Fun].IsType() || immediateBuiltin(sites.Builtin(r.info, n.Fun)))
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
