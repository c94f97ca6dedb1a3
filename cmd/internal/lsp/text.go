package lsp

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"go.lsp.dev/protocol"

	"github.com/interlock-go/interlock/analyzers/finding"
)

// text is the content of a file with its lines. Lines end as the editor and the Go
// scanner agree: with "\n", before which a "\r" belongs to the end.
type text struct {
	data  []byte
	lines []int // where each begins
}

func newText(data []byte) *text {
	t := &text{data: data, lines: []int{0}}
	for i, b := range data {
		if b == '\n' {
			t.lines = append(t.lines, i+1)
		}
	}
	return t
}

// line returns line n, from 0, without its end; "" behind the last one.
func (t *text) line(n int) []byte {
	if n < 0 || n >= len(t.lines) {
		return nil
	}
	end := len(t.data)
	if n+1 < len(t.lines) {
		end = t.lines[n+1] - 1
	}
	return bytes.TrimSuffix(t.data[t.lines[n]:end], []byte("\r"))
}

// position returns the place of a byte in a line, both from 0, as LSP counts: in
// UTF-16 code units. A byte within a rune stands for its start.
func (t *text) position(line, column int) protocol.Position {
	content := t.line(line)
	column = min(column, len(content))
	units := 0
	for i := 0; i < column; {
		r, size := utf8.DecodeRune(content[i:])
		if i+size > column {
			break
		}
		units += width(r)
		i += size
	}
	return protocol.Position{Line: uint32(line), Character: uint32(units)}
}

// width is how many UTF-16 code units a rune takes.
func width(r rune) int {
	if r > 0xffff {
		return 2
	}
	return 1
}

// offset returns the byte that a position names. A position behind the end of its line
// or of the text is its end, as the specification has it.
func (t *text) offset(p protocol.Position) int {
	if int(p.Line) >= len(t.lines) {
		return len(t.data)
	}
	content := t.line(int(p.Line))
	i, units := 0, 0
	for i < len(content) && units < int(p.Character) {
		r, size := utf8.DecodeRune(content[i:])
		units += width(r)
		i += size
	}
	return t.lines[p.Line] + i
}

// span returns the range of a place in t. Without an end it is the text there up to
// the end of the word.
func (t *text) span(p finding.Position) protocol.Range {
	line, column := p.Line-1, max(p.Column-1, 0)
	start := t.position(line, column)
	if p.EndLine > p.Line || p.EndLine == p.Line && p.EndColumn > p.Column {
		return protocol.Range{Start: start, End: t.position(p.EndLine-1, max(p.EndColumn-1, 0))}
	}
	content := t.line(line)
	end := min(column, len(content))
	for end < len(content) && isWord(content[end]) {
		end++
	}
	return protocol.Range{Start: start, End: t.position(line, end)}
}

func isWord(b byte) bool {
	return b == '_' || b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= utf8.RuneSelf
}

// moves is where the lines of one text are in a later one.
type moves struct {
	head, tail int // how many lines are the same at the start and at the end
	from, to   int // how many lines there are in each
}

// follow compares two texts of one file.
func (t *text) follow(now *text) moves {
	if t == now || bytes.Equal(t.data, now.data) {
		return moves{head: len(t.lines), from: len(t.lines), to: len(t.lines)}
	}
	head, tail := t.common(now)
	return moves{head, tail, len(t.lines), len(now.lines)}
}

// place returns where a place of the earlier text is in the later one: moved by as many
// lines as were put in or taken out before it. It reports false where a line of the
// place has changed.
func (m moves) place(p finding.Position) (finding.Position, bool) {
	last := max(p.Line, p.EndLine)
	switch {
	case p.Line < 1 || last > m.from:
		return p, false
	case last <= m.head:
		return p, true
	case p.Line <= m.from-m.tail:
		return p, false
	}
	p.Line += m.to - m.from
	if p.EndLine > 0 {
		p.EndLine += m.to - m.from
	}
	return p, true
}

// common returns how many lines are the same at the start of both texts, and how many
// at their ends.
func (t *text) common(o *text) (head, tail int) {
	shorter := min(len(t.lines), len(o.lines))
	for head < shorter && bytes.Equal(t.line(head), o.line(head)) {
		head++
	}
	for tail < shorter-head && bytes.Equal(t.line(len(t.lines)-1-tail), o.line(len(o.lines)-1-tail)) {
		tail++
	}
	return head, tail
}

// apply returns the text after an edit of the client.
func (t *text) apply(change protocol.TextDocumentContentChangeEvent) *text {
	switch c := change.(type) {
	case *protocol.TextDocumentContentChangeWholeDocument:
		return newText([]byte(c.Text))
	case *protocol.TextDocumentContentChangePartial:
		from, to := t.offset(c.Range.Start), t.offset(c.Range.End)
		to = max(from, to)
		var b strings.Builder
		b.Write(t.data[:from])
		b.WriteString(c.Text)
		b.Write(t.data[to:])
		return newText([]byte(b.String()))
	}
	return t
}

// locate sets the place of an access to where its expression is in t: the nearest line
// that has it, as lines of other packages may have moved since they were analysed. It
// reports false where there is none nearby. A place that is no expression of the source, such as
// the end of a function, stays where it is.
func (t *text) locate(a *finding.Access) bool {
	const nearby = 200
	for away := range nearby {
		for _, line := range []int{a.Line + away, a.Line - away} {
			content := string(t.line(line - 1))
			column := strings.Index(content, a.Expr)
			if column < 0 {
				continue
			}
			// The same line may have the expression several times.
			if away == 0 && a.Column > 0 && strings.HasPrefix(content[min(a.Column-1, len(content)):], a.Expr) {
				column = a.Column - 1
			}
			a.Line, a.Column = line, column+1
			a.EndLine, a.EndColumn = line, column+1+len(a.Expr)
			return true
		}
	}
	return a.Line == a.EndLine && a.Column == a.EndColumn && a.Line <= len(t.lines)
}
