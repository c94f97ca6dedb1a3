package patchgen

import (
	"bytes"
	"cmp"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
)

// edit replaces src[pos:end] of one file. text is asked for at the end, when
// it is known whether a region needs the write lock.
type edit struct {
	pos, end int
	text     func() string
	seq      int
}

// edits collects changes of a module's files.
type edits struct {
	by  map[*unit][]edit
	seq int
}

func newEdits() *edits { return &edits{by: map[*unit][]edit{}} }

func (es *edits) add(u *unit, pos, end int, text func() string) {
	es.seq++
	es.by[u] = append(es.by[u], edit{pos, end, text, es.seq})
}

func (es *edits) replace(u *unit, n ast.Node, text string) {
	es.add(u, u.offset(n.Pos()), u.offset(n.End()), func() string { return text })
}

// before inserts lines before n.
func (es *edits) before(u *unit, n ast.Node, text func() string) {
	indent := u.indent(n.Pos())
	es.add(u, u.offset(n.Pos()), u.offset(n.Pos()), func() string { return lines(text(), indent) })
}

// after inserts lines after n, and after a comment that ends n's last line.
func (es *edits) after(u *unit, n ast.Node, text func() string) {
	indent := u.indent(n.Pos())
	at := u.endOfLine(n.End())
	es.add(u, at, at, func() string {
		if t := text(); t != "" {
			return "\n" + indent + strings.TrimSuffix(lines(t, indent), "\n"+indent)
		}
		return ""
	})
}

// lines ends every line of text with a newline and the indent of the next.
func lines(text, indent string) string {
	if text == "" {
		return ""
	}
	return strings.ReplaceAll(text, "\n", "\n"+indent) + "\n" + indent
}

// indent is the white space that the line of p starts with.
func (u *unit) indent(p token.Pos) string {
	off := u.offset(p)
	start := bytes.LastIndexByte(u.src[:off], '\n') + 1
	end := start
	for end < off && (u.src[end] == ' ' || u.src[end] == '\t') {
		end++
	}
	return string(u.src[start:end])
}

// endOfLine returns the end of p's line where only a line comment follows p,
// and p itself otherwise.
func (u *unit) endOfLine(p token.Pos) int {
	off := u.offset(p)
	end := off + bytes.IndexByte(append(u.src[off:len(u.src):len(u.src)], '\n'), '\n')
	rest := strings.TrimSpace(string(u.src[off:end]))
	if strings.HasPrefix(rest, "//") {
		return off + len(strings.TrimRight(string(u.src[off:end]), " \t\r"))
	}
	return off
}

// deleteLine removes n with its line where it stands alone there.
func (es *edits) deleteLine(u *unit, n ast.Node) {
	pos, end := u.offset(n.Pos()), u.offset(n.End())
	start := bytes.LastIndexByte(u.src[:pos], '\n') + 1
	stop := end + bytes.IndexByte(append(u.src[end:len(u.src):len(u.src)], '\n'), '\n')
	if strings.TrimSpace(string(u.src[start:pos])) == "" && strings.TrimSpace(string(u.src[end:stop])) == "" {
		pos, end = start, min(stop+1, len(u.src))
	}
	es.add(u, pos, end, func() string { return "" })
}

// cut removes a statement that stands on lines of its own, with the comments
// directly above it and behind it, and returns what was removed.
func (es *edits) cut(u *unit, s ast.Stmt) string {
	pos, end := u.offset(s.Pos()), u.offset(s.End())
	top := u.line(s.Pos())
	for _, group := range slices.Backward(u.file.Comments) {
		switch {
		case u.line(group.End()) == top-1 && u.ownLine(group):
			pos, top = u.offset(group.Pos()), u.line(group.Pos())
		case group.Pos() > s.End() && u.line(group.Pos()) == u.line(s.End()):
			end = u.offset(group.End())
		}
	}
	text := string(u.src[pos:end])
	start := bytes.LastIndexByte(u.src[:pos], '\n') + 1
	stop := end + bytes.IndexByte(append(u.src[end:len(u.src):len(u.src)], '\n'), '\n')
	if strings.TrimSpace(string(u.src[start:pos])) == "" && strings.TrimSpace(string(u.src[end:stop])) == "" {
		pos, end = start, min(stop+1, len(u.src))
	}
	es.add(u, pos, end, func() string { return "" })
	return strings.ReplaceAll(text, "\n"+u.indent(s.Pos()), "\n")
}

// ownLine reports whether nothing but white space stands before n.
func (u *unit) ownLine(n ast.Node) bool {
	off := u.offset(n.Pos())
	start := bytes.LastIndexByte(u.src[:off], '\n') + 1
	return strings.TrimSpace(string(u.src[start:off])) == ""
}

// files applies the edits: the new contents by path. Files that were
// gofmt-ed stay so, and lines end as they did.
func (es *edits) files() (map[string][]byte, error) {
	out := map[string][]byte{}
	for u, list := range es.by {
		if ast.IsGenerated(u.file) {
			return nil, fmt.Errorf("%s is generated: the generator would have to change", u.path)
		}
		src, err := apply(u.src, list)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", u.path, err)
		}
		if bytes.Equal(src, u.src) {
			continue
		}
		if src, err = tidy(newlines(u.src), newlines(src)); err != nil {
			return nil, fmt.Errorf("%s: %w", u.path, err)
		}
		out[u.path] = endLinesAs(u.src, src)
	}
	return out, nil
}

// newlines ends every line with a newline alone.
func newlines(src []byte) []byte { return bytes.ReplaceAll(src, []byte("\r\n"), []byte("\n")) }

// endLinesAs ends the lines of src, which end with newlines, as old does: those
// that old has as they end there, new ones as the line before.
func endLinesAs(old, src []byte) []byte {
	if !bytes.Contains(old, []byte("\r\n")) {
		return src
	}
	were := splitLines(old)
	end := func(line string) string { return line[len(strings.TrimRight(line, "\r\n")):] }
	last := end(were[0])
	var out []byte
	for _, o := range compare(splitLines(newlines(old)), splitLines(src)) {
		line := o.line
		if o.kind != '+' {
			line, were = were[0], were[1:]
			last = cmp.Or(end(line), last)
		} else if text, ended := strings.CutSuffix(line, "\n"); ended {
			line = text + last
		}
		if o.kind != '-' {
			out = append(out, line...)
		}
	}
	return out
}

// tidy formats what has changed: the file if it was gofmt-ed, else each
// declaration that old does not hold as it is.
func tidy(old, new []byte) ([]byte, error) {
	if was, err := format.Source(old); err == nil && bytes.Equal(was, old) {
		return format.Source(new)
	}
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "", new, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	var out []byte
	at := 0
	for _, d := range f.Decls {
		from, to := fset.Position(d.Pos()).Offset, fset.Position(d.End()).Offset
		if bytes.Contains(old, new[from:to]) {
			continue
		}
		text, err := format.Source(new[from:to])
		if err != nil {
			return nil, err
		}
		out = append(append(out, new[at:from]...), text...)
		at = to
	}
	return append(out, new[at:]...), nil
}

func apply(src []byte, list []edit) ([]byte, error) {
	slices.SortFunc(list, func(a, b edit) int {
		switch {
		case a.pos != b.pos:
			return a.pos - b.pos
		case (a.pos == a.end) != (b.pos == b.end): // insertions come before what they stand before
			if a.pos == a.end {
				return -1
			}
			return 1
		}
		return a.seq - b.seq
	})
	var out []byte
	at := 0
	for _, e := range list {
		if e.pos < at {
			return nil, fmt.Errorf("two changes overlap at offset %d", e.pos)
		}
		out = append(out, src[at:e.pos]...)
		out = append(out, e.text()...)
		at = e.end
	}
	return append(out, src[at:]...), nil
}

// addImport makes path importable in u by its last element; it returns the
// name under which u has it.
func (es *edits) addImport(u *unit, path string) string {
	name := path[strings.LastIndexByte(path, '/')+1:]
	var last *ast.ImportSpec
	for _, spec := range u.file.Imports {
		p, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue
		}
		if p == path {
			if spec.Name == nil {
				return name
			}
			if spec.Name.Name != "_" && spec.Name.Name != "." {
				return spec.Name.Name
			}
		}
		if p != "C" && (p < path || last == nil) {
			last = spec
		}
	}
	es.insertImport(u, last, path)
	return name
}

func (es *edits) insertImport(u *unit, near *ast.ImportSpec, path string) {
	for _, e := range es.by[u] {
		if strings.Contains(e.text(), strconv.Quote(path)) {
			return // asked for before
		}
	}
	line := strconv.Quote(path)
	if near == nil {
		at := u.offset(u.file.Name.End())
		es.add(u, at, at, func() string { return "\n\nimport " + line })
		return
	}
	decl, _ := u.parents[near].(*ast.GenDecl)
	p, _ := strconv.Unquote(near.Path.Value)
	switch {
	case decl == nil || !decl.Lparen.IsValid():
		old := u.text(near)
		specs := []string{old, line}
		if p > path {
			slices.Reverse(specs)
		}
		es.replace(u, near, "(\n\t"+strings.Join(specs, "\n\t")+"\n)")
	case p < path:
		es.after(u, near, func() string { return line })
	default:
		es.before(u, near, func() string { return line })
	}
}
