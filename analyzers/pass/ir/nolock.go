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
	if decl, ok := f.Syntax().(*ast.FuncDecl); ok && p.noLock.groups[decl.Doc] {
		return true
	}
	at := p.fset.PositionFor(pos, false)
	return slices.ContainsFunc(p.noLock.lines[at.Filename], func(c commentLines) bool {
		return c.first <= at.Line && at.Line <= c.last+knowledge.CommentReach && c.pos > f.Pos()
	})
}

// noLock are the comments that say so. Each is matched once: that takes longer than a pass needs for an access.
type noLock struct {
	groups map[*ast.CommentGroup]bool
	lines  map[string][]commentLines // by file
}

// commentLines are where a comment stands.
type commentLines struct {
	pos         token.Pos
	first, last int
}

func readNoLock(pass *analysis.Pass) noLock {
	n := noLock{map[*ast.CommentGroup]bool{}, map[string][]commentLines{}}
	for _, f := range pass.Files {
		for _, c := range f.Comments {
			if knowledge.CommentNeedsNoLock(c.Text()) {
				first, last := pass.Fset.PositionFor(c.Pos(), false), pass.Fset.PositionFor(c.End(), false)
				n.groups[c] = true
				n.lines[first.Filename] = append(n.lines[first.Filename], commentLines{c.Pos(), first.Line, last.Line})
			}
		}
	}
	return n
}
