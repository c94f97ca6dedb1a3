package invariants

import (
	"go/ast"
	"go/token"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// Directive marks code that is meant to be one step, in a comment.
const Directive = "//interlock:atomic"

// Problem is a directive that does not make sense.
type Problem struct {
	Pos     token.Pos
	Message string
}

// span is the code that a directive speaks of.
type span struct {
	comment  token.Pos
	from, to token.Pos
	used     bool // by accesses of one variable
	pair     bool // by those of two
}

// hasBoth reports whether e and u, of fn, lie in the span.
func (s *span) hasBoth(fn *ssa.Function, e, u *event) bool {
	return s.hasCodeOf(fn) && s.covers(e) && s.covers(u)
}

func (s *span) covers(e *event) bool { return s.from <= e.position() && e.position() < s.to }

// hasCodeOf reports whether the source of fn has code of the span.
func (s *span) hasCodeOf(fn *ssa.Function) bool {
	n := fn.Syntax()
	return n != nil && n.Pos() < s.to && s.from < n.End()
}

func (f *finder) problem(pos token.Pos, message string) {
	f.result.Problems = append(f.result.Problems, Problem{pos, message})
}

// readDirectives finds the spans that comments declare.
func (f *finder) readDirectives() {
	for _, file := range f.pass.Files {
		for _, group := range file.Comments {
			for _, c := range group.List {
				why, ok := strings.CutPrefix(c.Text, Directive)
				if !ok {
					continue
				}
				n := f.marked(file, c)
				switch {
				case strings.TrimSpace(why) == "":
					f.problem(c.Pos(), "interlock:atomic without a reason: say why after it")
				case n == nil:
					f.problem(c.Pos(), "interlock:atomic marks nothing: it stands above a function, or above or at the end of the "+
						"first line of a statement in one")
				default:
					f.spans = append(f.spans, &span{comment: c.Pos(), from: n.Pos(), to: n.End()})
				}
			}
		}
	}
}

// marked returns the outermost function or statement that begins in the line of c or
// in the one below its comment.
func (f *finder) marked(file *ast.File, c *ast.Comment) ast.Node {
	line := func(pos token.Pos) int { return f.pass.Fset.PositionFor(pos, false).Line }
	below := line(c.Pos()) + 1
	for _, g := range file.Comments {
		if g.Pos() <= c.Pos() && c.End() <= g.End() {
			below = line(g.End()) + 1
		}
	}
	var found ast.Node
	ast.Inspect(file, func(n ast.Node) bool {
		if found != nil || n == nil {
			return false
		}
		switch n := n.(type) {
		case *ast.FuncDecl:
			if at := line(n.Pos()); at == below {
				found = n
			}
		case *ast.CaseClause, *ast.CommClause:
		case ast.Stmt:
			if at := line(n.Pos()); at == below || at == line(c.Pos()) {
				found = n
			}
		}
		return found == nil
	})
	return found
}

// unused complains of directives that no two accesses are in which belong together.
func (f *finder) unused() {
	for _, s := range f.spans {
		if !s.used && !s.pair {
			f.problem(s.comment, "interlock:atomic covers no two consecutive accesses of one shared variable, or of two fields "+
				"of one object: remove it, or declare the section in interlock.sections")
		}
	}
}
