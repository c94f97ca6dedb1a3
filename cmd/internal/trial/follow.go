package trial

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"

	"github.com/sourcegraph/go-diff/diff"
	"golang.org/x/tools/go/ast/astutil"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/patchgen"
)

// followPlace moves a place of the old contents to where it is in the new ones: with its line, or, if a patch has
// changed that, with the statement around it, word by word. It reports whether that is there still.
//
//	func (r *R) width() int { return r.max - r.min }	->	func (r *R) width() int {
//									r.mu.Lock()
//									defer r.mu.Unlock()
//									return r.max - r.min
//								}
func followPlace(before, after []byte, pos *finding.Position) bool {
	if shift, ok := lineShift(before, after, pos.Line); ok {
		pos.Line += shift
		if pos.EndLine > 0 {
			pos.EndLine += shift
		}
		return true
	}
	line, column, ok := statementMoved(before, after, pos.Line, pos.Column)
	if ok {
		pos.Line, pos.Column, pos.EndLine, pos.EndColumn = line, column, 0, 0
	}
	return ok
}

// lineShift reports how far a line of the old contents has moved in the new
// ones; not ok if it is not there any more.
func lineShift(before, after []byte, line int) (shift int, ok bool) {
	text, err := patchgen.Diff(map[string][]byte{"f": before}, map[string][]byte{"f": after})
	if err != nil {
		return 0, false
	}
	fd, err := diff.ParseFileDiff([]byte(text))
	if err != nil {
		return 0, text == ""
	}
	for _, h := range fd.Hunks {
		at := int(h.OrigStartLine)
		if h.OrigLines == 0 {
			at++ // such a hunk names the line before it
		}
		for _, l := range strings.SplitAfter(string(h.Body), "\n") {
			switch {
			case at > line || l == "":
				continue
			case l[0] == '+':
				shift++
			case l[0] == '-' && at == line:
				return 0, false
			case l[0] == '-':
				shift--
				at++
			case l[0] == ' ' || l[0] == '\n':
				at++
			}
		}
	}
	return shift, true
}

// statementMoved returns the place in the new contents that corresponds to a place of the old ones: in the same
// statement of the same function. Among several equal statements it takes the one with the same number, if there are
// as many as before.
func statementMoved(before, after []byte, line, column int) (newLine, newColumn int, ok bool) {
	was, is := parseText(before), parseText(after)
	if was == nil || is == nil {
		return 0, 0, false
	}
	offset := was.offset(line, column)
	if offset < 0 {
		return 0, 0, false
	}
	f, s := was.statementAt(offset)
	if s == nil {
		return 0, 0, false
	}
	old, now := was.alike(f, was.words(s)), []ast.Stmt(nil)
	for _, decl := range is.tree.Decls {
		if g, isFunc := decl.(*ast.FuncDecl); isFunc && is.nameOf(g) == was.nameOf(f) {
			now = append(now, is.alike(g, was.words(s))...)
		}
	}
	if len(old) != len(now) {
		return 0, 0, false
	}
	// As many letters into the new statement as the place is into the old one, spaces apart.
	letters := len(strings.Join(strings.Fields(string(before[was.at(s.Pos()):offset])), ""))
	to := is.at(now[slices.Index(old, s)].Pos())
	for ; letters > 0 || strings.TrimSpace(string(after[to:to+1])) == ""; to++ {
		if strings.TrimSpace(string(after[to:to+1])) != "" {
			letters--
		}
	}
	p := is.fset.PositionFor(is.tree.FileStart+token.Pos(to), false)
	return p.Line, p.Column, true
}

// text is a parsed file.
type text struct {
	source []byte
	fset   *token.FileSet
	tree   *ast.File
}

// parseText returns nil if the source does not parse.
func parseText(source []byte) *text {
	t := &text{source: source, fset: token.NewFileSet()}
	var err error
	if t.tree, err = parser.ParseFile(t.fset, "", source, parser.SkipObjectResolution); err != nil {
		return nil
	}
	return t
}

// at returns the offset of a position.
func (t *text) at(pos token.Pos) int { return int(pos - t.tree.FileStart) }

// offset returns the offset of a line and column; negative for a place that does not exist.
func (t *text) offset(line, column int) int {
	file := t.fset.File(t.tree.FileStart)
	if line < 1 || line > file.LineCount() || column < 1 {
		return -1
	}
	offset := t.at(file.LineStart(line)) + column - 1
	if offset >= len(t.source) {
		return -1
	}
	return offset
}

// statementAt returns the innermost statement at an offset that is more than a block, and the declared function
// around it; nil if there is none.
func (t *text) statementAt(offset int) (f *ast.FuncDecl, found ast.Stmt) {
	pos := t.tree.FileStart + token.Pos(offset)
	path, _ := astutil.PathEnclosingInterval(t.tree, pos, pos)
	for _, n := range path {
		s, isStmt := n.(ast.Stmt)
		_, isBlock := n.(*ast.BlockStmt)
		if isStmt && !isBlock && found == nil {
			found = s
		}
		if f, ok := n.(*ast.FuncDecl); ok {
			return f, found
		}
	}
	return nil, nil
}

// words returns the source of a node with single spaces.
func (t *text) words(n ast.Node) string {
	return strings.Join(strings.Fields(string(t.source[t.at(n.Pos()):t.at(n.End())])), " ")
}

// nameOf returns the name of a function, with its receiver.
func (t *text) nameOf(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return f.Name.Name
	}
	return t.words(f.Recv) + f.Name.Name
}

// alike lists the statements of a function that read as words do, in order.
func (t *text) alike(f *ast.FuncDecl, words string) (list []ast.Stmt) {
	ast.Inspect(f, func(n ast.Node) bool {
		if s, ok := n.(ast.Stmt); ok && t.words(s) == words {
			list = append(list, s)
		}
		return true
	})
	return list
}
