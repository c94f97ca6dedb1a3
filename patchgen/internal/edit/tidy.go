package edit

import (
	"bytes"
	"cmp"
	"go/format"
	"go/parser"
	"go/token"
	"strings"
)

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

// Tidy formats what has changed: the file if it was gofmt-ed, else each
// declaration that old does not hold as it is.
func Tidy(old, new []byte) ([]byte, error) {
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
