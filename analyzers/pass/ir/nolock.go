package ir

import (
	"go/ast"
	"go/token"
	"regexp"
	"slices"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"
)

// SaysNoLock reports whether a comment says of the code at pos in f that it
// needs no lock: the comment of f, or one that ends at most commentReach lines
// above. Its author has thought of the lock, and knows more than can be seen.
func (p *Program) SaysNoLock(f *ssa.Function, pos token.Pos) bool {
	f = Outermost(f)
	if decl, ok := f.Syntax().(*ast.FuncDecl); ok && decl.Doc != nil && noLock.MatchString(decl.Doc.Text()) {
		return true
	}
	at := p.fset.PositionFor(pos, false)
	return slices.ContainsFunc(p.noLock[at.Filename], func(c commentLines) bool {
		return c.first <= at.Line && at.Line <= c.last+commentReach && c.pos > f.Pos()
	})
}

// commentReach is how many lines below a comment it is taken to speak of:
// a short statement group.
const commentReach = 6

// commentLines are where a comment stands.
type commentLines struct {
	pos         token.Pos
	first, last int
}

// noLock matches how comments say that no lock is needed, or that a race is meant.
var noLock = regexp.MustCompile(`(?is)\b(don't|doesn't|do not|does not|not|no longer)\s+(need|require` +
	`|necessary)\b([^.]|\.\w){0,30}\b(lock|locking|mutex|synchroni[sz]ation)\b` +
	`|\bno\s+(need\s+(to|for)\s+(a\s+|the\s+)?)?(lock|locking|mutex|synchroni[sz]ation)\s*(is\s+|needed|required` +
	`|necessary|here|as\b|since\b|because\b)` +
	`|\brac(e|es|y|ing)\b.{0,100}\b(allowed|acceptable|harmless|benign|tolerable)\b` +
	`|\b((safe|fine|ok|okay)\s+to|can\s+be\s+(read|set|written|updated|accessed|used|called))\b([^.]` +
	`|\.\w){0,80}\bwithout\s+(any\s+|the\s+|a\s+)?(holding\s+|taking\s+)?(the\s+|a\s+)?(lock|locking|mutex` +
	`|synchroni[sz]ation)`)

// readNoLock finds the comments that say so, by file.
func readNoLock(pass *analysis.Pass) map[string][]commentLines {
	lines := map[string][]commentLines{}
	for _, f := range pass.Files {
		for _, c := range f.Comments {
			if noLock.MatchString(c.Text()) {
				first, last := pass.Fset.PositionFor(c.Pos(), false), pass.Fset.PositionFor(c.End(), false)
				lines[first.Filename] = append(lines[first.Filename], commentLines{c.Pos(), first.Line, last.Line})
			}
		}
	}
	return lines
}
