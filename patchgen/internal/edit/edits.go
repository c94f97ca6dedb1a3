package edit

import (
	"bytes"
	"fmt"
	"go/ast"
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

// Replace replaces the source of n by text.
func (edits *Edits) Replace(file *source.File, n ast.Node, text string) {
	edits.Add(file, file.Offset(n.Pos()), file.Offset(n.End()), func() string { return text })
}

// Before inserts lines before n.
func (edits *Edits) Before(file *source.File, n ast.Node, text func() string) {
	indent := file.Indent(n.Pos())
	edits.Add(file, file.Offset(n.Pos()), file.Offset(n.Pos()), func() string { return Lines(text(), indent) })
}

// After inserts lines after n, and after a comment that ends n's last line.
func (edits *Edits) After(file *source.File, n ast.Node, text func() string) {
	indent := file.Indent(n.Pos())
	at := file.EndOfLine(n.End())
	edits.Add(file, at, at, func() string {
		if t := text(); t != "" {
			return "\n" + indent + strings.TrimSuffix(Lines(t, indent), "\n"+indent)
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
			return nil, fmt.Errorf("%s is generated: the generator would have to change", file.Path)
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
