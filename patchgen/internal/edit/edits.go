package edit

import (
	"bytes"
	"fmt"
	"go/ast"
	"path"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/patchgen/internal/source"
)

// edit replaces src[pos:end] of one file. text is asked for at the end, when
// it is known whether a region needs the write lock.
type edit struct {
	pos, end int
	text     func() string
	seq      int
}

// Edits collects changes of a module's files.
type Edits struct {
	byFile map[*source.File][]edit
	seq    int
}

// New returns an empty collection.
func New() *Edits { return &Edits{byFile: map[*source.File][]edit{}} }

// Add replaces the bytes from offset pos to offset end of file by text, which is called once all edits are known.
// Edits at the same place keep the order in which they were added.
func (edits *Edits) Add(file *source.File, pos, end int, text func() string) {
	edits.seq++
	edits.byFile[file] = append(edits.byFile[file], edit{pos, end, text, edits.seq})
}

// Join adds all changes of another collection.
func (edits *Edits) Join(others *Edits) {
	for file, list := range others.byFile {
		for _, e := range list {
			edits.Add(file, e.pos, e.end, e.text)
		}
	}
}

// Replace replaces the source of n by text.
func (edits *Edits) Replace(file *source.File, n ast.Node, text string) {
	edits.Add(file, file.Offset(n.Pos()), file.Offset(n.End()), func() string { return text })
}

// Before inserts lines right before n: behind a comment that stands above n, which is then the comment
// of the first new line. Strategies for which that reads wrong write a comment of their own.
func (edits *Edits) Before(file *source.File, n ast.Node, text func() string) {
	indent := file.Indent(n.Pos())
	edits.Add(file, file.Offset(n.Pos()), file.Offset(n.Pos()), func() string { return Lines(text(), indent) })
}

// AtStart inserts lines at the start of a function, before a comment that stands above its first statement.
func (edits *Edits) AtStart(f *source.Function, text string) {
	file, first := f.File, f.Body.List[0]
	if file.Line(first.Pos()) == file.Line(f.Body.Lbrace) {
		edits.Before(file, first, func() string { return text })
		return
	}
	at, indent := file.EndOfLine(f.Body.Lbrace+1), "\n\t"+file.Indent(f.Node.Pos())
	edits.Add(file, at, at, func() string { return indent + strings.ReplaceAll(text, "\n", indent) })
}

// After inserts lines after n, and after a comment that ends n's last line.
func (edits *Edits) After(file *source.File, n ast.Node, text func() string) {
	indent := file.Indent(n.Pos())
	at := file.EndOfLine(n.End())
	// struct{ n int }: the brace goes on a line of its own
	rest, _, _ := strings.Cut(string(file.Source[at:]), "\n")
	last := ""
	if strings.TrimSpace(rest) != "" {
		last = "\n" + indent
	}
	edits.Add(file, at, at, func() string {
		if t := text(); t != "" {
			return "\n" + indent + strings.TrimSuffix(Lines(t, indent), "\n"+indent) + last
		}
		return ""
	})
}

// Lines ends every line of text with a newline and the indent of the next.
func Lines(text, indent string) string {
	if text == "" {
		return ""
	}
	return strings.ReplaceAll(text, "\n", "\n"+indent) + "\n" + indent
}

// DeleteLine removes n with its line where it stands alone there.
func (edits *Edits) DeleteLine(file *source.File, n ast.Node) {
	pos, end := file.Offset(n.Pos()), file.Offset(n.End())
	start := bytes.LastIndexByte(file.Source[:pos], '\n') + 1
	stop := end + bytes.IndexByte(append(file.Source[end:len(file.Source):len(file.Source)], '\n'), '\n')
	if strings.TrimSpace(string(file.Source[start:pos])) == "" && strings.TrimSpace(string(file.Source[end:stop])) == "" {
		pos, end = start, min(stop+1, len(file.Source))
	}
	edits.Add(file, pos, end, func() string { return "" })
}

// Cut removes a statement that stands on lines of its own, with the comments
// directly above it and behind it, and returns what was removed.
func (edits *Edits) Cut(file *source.File, s ast.Stmt) string {
	pos, end := file.Offset(s.Pos()), file.Offset(s.End())
	top := file.Line(s.Pos())
	for _, group := range slices.Backward(file.Syntax.Comments) {
		switch {
		case file.Line(group.End()) == top-1 && file.OwnLine(group):
			pos, top = file.Offset(group.Pos()), file.Line(group.Pos())
		case group.Pos() > s.End() && file.Line(group.Pos()) == file.Line(s.End()):
			end = file.Offset(group.End())
		}
	}
	text := string(file.Source[pos:end])
	start := bytes.LastIndexByte(file.Source[:pos], '\n') + 1
	stop := end + bytes.IndexByte(append(file.Source[end:len(file.Source):len(file.Source)], '\n'), '\n')
	if strings.TrimSpace(string(file.Source[start:pos])) == "" && strings.TrimSpace(string(file.Source[end:stop])) == "" {
		pos, end = start, min(stop+1, len(file.Source))
	}
	edits.Add(file, pos, end, func() string { return "" })
	return strings.ReplaceAll(text, "\n"+file.Indent(s.Pos()), "\n")
}

// Files applies the edits: the new contents by path. Files that were
// gofmt-ed stay so, and lines end as they did.
func (edits *Edits) Files() (map[string][]byte, error) {
	out := map[string][]byte{}
	for file, list := range edits.byFile {
		if ast.IsGenerated(file.Syntax) {
			return nil, fmt.Errorf("%s is generated%s: change the generator, and generate it again", file.Path,
				generatorOf(file))
		}
		src, err := apply(file.Source, list)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file.Path, err)
		}
		if bytes.Equal(src, file.Source) {
			continue
		}
		if src, err = Tidy(newlines(file.Source), newlines(src)); err != nil {
			return nil, fmt.Errorf("%s: %w", file.Path, err)
		}
		out[file.Path] = endLinesAs(file.Source, src)
	}
	return out, nil
}

// generatorOf returns what makes a generated file, in words that follow
// "generated": by its header, and by a go:generate line of its package that names it.
func generatorOf(file *source.File) (words string) {
	// Code generated by NAME. DO NOT EDIT.
	eachComment(file, func(c *ast.Comment) {
		by, ok := strings.CutPrefix(c.Text, "// Code generated by ")
		if by, _, ended := strings.Cut(by, " DO NOT EDIT."); ok && ended {
			words = " by " + strings.TrimRight(by, ".;, ")
		}
	})
	// go:generate go run gen.go -o FILE
	for _, other := range file.Package.Files {
		eachComment(other, func(c *ast.Comment) {
			if strings.HasPrefix(c.Text, "//go:generate ") && strings.Contains(c.Text, path.Base(file.Path)) {
				words += ", which " + other.At(c) + " runs"
			}
		})
	}
	return words
}

func eachComment(file *source.File, visit func(*ast.Comment)) {
	for _, group := range file.Syntax.Comments {
		for _, c := range group.List {
			visit(c)
		}
	}
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
