package ir

import (
	"go/ast"
	"go/token"
	"slices"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/internal/knowledge"
)

// SaysNoLock reports whether a comment says of the code at pos in f that it
// needs no lock: the comment of f, or one that ends at most [knowledge.CommentReach] lines
// above. Its author has thought of the lock, and knows more than can be seen.
func (p *Program) SaysNoLock(f *ssa.Function, pos token.Pos) bool {
	f = Outermost(f)
	if decl, ok := f.Syntax().(*ast.FuncDecl); ok && decl.Doc != nil && knowledge.CommentNeedsNoLock(decl.Doc.Text()) {
		return true
	}
	at := p.fset.PositionFor(pos, false)
	return slices.ContainsFunc(p.noLock[at.Filename], func(c commentLines) bool {
		return c.first <= at.Line && at.Line <= c.last+knowledge.CommentReach && c.pos > f.Pos()
	})
}

// commentLines are where a comment stands.
type commentLines struct {
	pos         token.Pos
	first, last int
}

// readNoLock finds the comments that say so, by file.
func readNoLock(pass *analysis.Pass) map[string][]commentLines {
	lines := map[string][]commentLines{}
	for _, f := range pass.Files {
		for _, c := range f.Comments {
			if knowledge.CommentNeedsNoLock(c.Text()) {
				first, last := pass.Fset.PositionFor(c.Pos(), false), pass.Fset.PositionFor(c.End(), false)
				lines[first.Filename] = append(lines[first.Filename], commentLines{c.Pos(), first.Line, last.Line})
			}
		}
	}
	return lines
}
