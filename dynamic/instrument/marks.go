package instrument

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/token"

	"github.com/interlock-go/interlock/dynamic/instrument/internal/textedit"
)

// markStart begins the text of every mark.
const markStart = "/*interlock:"

// Mark is the text that stands in [File.Marked] where the original has the
// offset.
func Mark(offset int) string { return fmt.Sprintf("%s%d*/", markStart, offset) }

// marked returns the rewritten text with marks: at the start of each statement,
// behind each brace that opens a block and each colon of a clause, behind an
// else and at its end, and behind the package clause.
func (r *rewriter) marked() ([]byte, error) {
	if bytes.Contains(r.Src, []byte(markStart)) {
		return nil, nil
	}
	m := &marker{r: r, done: map[int]bool{}}
	m.behind(r.Syntax.Name.Pos(), r.Syntax.Name.End())
	ast.Inspect(r.Syntax, m.visit)
	content, err := r.Edits.Render()
	if err != nil {
		return nil, err
	}
	return r.header(content)
}

// marker adds marks to r's edits, one an offset.
type marker struct {
	r    *rewriter
	done map[int]bool
}

func (m *marker) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.BlockStmt:
		if n.Lbrace.IsValid() && n.Rbrace.IsValid() {
			m.behind(n.Lbrace, n.Lbrace+1)
		}
		m.starts(n.List)
	case *ast.CaseClause:
		m.behind(n.Colon, n.Colon+1)
		m.starts(n.Body)
	case *ast.CommClause:
		m.behind(n.Colon, n.Colon+1)
		m.starts(n.Body)
	case *ast.LabeledStmt:
		m.starts([]ast.Stmt{n.Stmt})
	case *ast.IfStmt:
		if n.Else != nil {
			m.elseOf(n)
		}
	}
	return true
}

// starts marks the starts of statements.
func (m *marker) starts(list []ast.Stmt) {
	for _, s := range list {
		if off := m.r.Offset(s.Pos()); s.Pos() < s.End() && !m.done[off] {
			m.done[off] = true
			m.r.Wrap(s.Pos(), s.End(), textedit.RankMark, []textedit.Piece{textedit.Text(Mark(off))}, nil)
		}
	}
}

// behind marks the end of a range, after the calls that others put there: it may be
// the condition of a loop.
func (m *marker) behind(lo, hi token.Pos) {
	if off := m.r.Offset(hi); !m.done[off] {
		m.done[off] = true
		m.r.Wrap(lo, hi, textedit.RankMark, nil, []textedit.Piece{textedit.Text(Mark(off))})
	}
}

// elseOf marks behind the word else, before its statement, and behind that.
func (m *marker) elseOf(n *ast.IfStmt) {
	from, to := m.r.Offset(n.Body.End()), m.r.Offset(n.Else.Pos())
	if i := bytes.LastIndex(m.r.Src[from:to], []byte("else")); i >= 0 {
		pos := n.Body.End() + token.Pos(i)
		m.behind(pos, pos+token.Pos(len("else")))
	}
	m.starts([]ast.Stmt{n.Else})
	if off := m.r.Offset(n.Else.End()); !m.done[off] {
		m.done[off] = true
		m.r.Wrap(n.Else.Pos(), n.Else.End(), textedit.RankMark, nil, []textedit.Piece{textedit.Text(Mark(off))})
	}
}
