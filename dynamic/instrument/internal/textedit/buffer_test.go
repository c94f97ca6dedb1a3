package textedit

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// numbered returns a text of words, each the number of its line, and the
// offsets at which words start.
func numbered(lines, words int) (string, []int) {
	var b strings.Builder
	var starts []int
	for line := range lines {
		for range words {
			starts = append(starts, b.Len())
			fmt.Fprintf(&b, "%d", line+1)
			b.WriteString(" ")
		}
		b.WriteString("\n")
	}
	return b.String(), append(starts, b.Len())
}

func newBuffer(src string) *Buffer {
	return &Buffer{Src: []byte(src), Position: func(offset int) Place {
		line := 1 + strings.Count(src[:offset], "\n")
		return Place{line, line, offset - strings.LastIndexByte(src[:offset], '\n')}
	}}
}

var directiveOrToken = regexp.MustCompile(`/\*line :(\d+):\d+\*/|\n|\d+`)

// misplaced returns the first word of out that a compiler takes for another
// line than its number, and how many words there are.
func misplaced(out []byte) (string, int) {
	line, words := 1, 0
	for _, m := range directiveOrToken.FindAllSubmatch(out, -1) {
		switch {
		case m[1] != nil:
			line, _ = strconv.Atoi(string(m[1]))
		case m[0][0] == '\n':
			line++
		default:
			words++
			if string(m[0]) != strconv.Itoa(line) {
				return fmt.Sprintf("word %s on line %d", m[0], line), words
			}
		}
	}
	return "", words
}

func TestBuffer(t *testing.T) {
	b := newBuffer("x.f = g(\n1, y.f)\n")
	// The right-hand side moves before the statement, and has an edit inside.
	rhs := b.Replace(6, 16, RankCut, Text("_1"))
	b.Wrap(12, 15, RankPlace, []Piece{Text("R(")}, []Piece{Text(")")})
	b.Wrap(0, 16, RankStmt, []Piece{Text("{ _1 := "), BodyOf(rhs), Text("; ")}, []Piece{Text(" }")})
	b.Wrap(0, 3, RankPlace, []Piece{Text("W(")}, []Piece{Text(")")})
	got, err := b.Render()
	const want = "{ _1 := g(\n1, R(y.f)); W(/*line :1:1*/x.f) = _1 }/*line :2:8*/\n"
	if err != nil || string(got) != want {
		t.Errorf("render: %v\n got %q\nwant %q", err, got, want)
	}
}

func TestBufferRanks(t *testing.T) {
	b := newBuffer("m")
	b.Wrap(0, 1, RankPlace, []Piece{Text("R(")}, []Piece{Text(")")})
	b.Wrap(0, 1, RankBehind, []Piece{Text("MR(")}, []Piece{Text(")")})
	b.Wrap(0, 1, RankStmt, []Piece{Text("{")}, []Piece{Text("}")})
	got, err := b.Render()
	if err != nil || string(got) != "{MR(R(m))}" {
		t.Errorf("render: %q, %v", got, err)
	}
}

func TestBufferOverlap(t *testing.T) {
	for _, second := range [][2]int{{2, 5}, {3, 3}} {
		b := newBuffer("abcdef")
		b.Wrap(0, 4, RankStmt, nil, nil)
		b.Wrap(second[0], second[1], RankStmt, nil, nil)
		if got, err := b.Render(); err == nil {
			t.Errorf("edits [0, 4) and %v: got %q, want an error", second, got)
		}
	}
}

// FuzzBuffer makes edits from bytes, three an edit (start, length, kind).
// Either they overlap, or all words are there, each on its own line.
func FuzzBuffer(f *testing.F) {
	f.Add([]byte{0, 3, 0, 1, 1, 1})
	f.Add([]byte{0, 40, 1, 3, 9, 1, 4, 2, 1, 20, 20, 1})
	f.Add([]byte{5, 5, 1, 0, 12, 0, 6, 1, 2})
	f.Fuzz(func(t *testing.T, data []byte) {
		src, starts := numbered(8, 6)
		b := newBuffer(src)
		var moved []Piece
		for ; len(data) >= 3; data = data[3:] {
			i := int(data[0]) % (len(starts) - 1)
			j := min(i+1+int(data[1])%40, len(starts)-1)
			lo, hi := starts[i], starts[j]
			if data[2]%2 == 0 {
				b.Wrap(lo, hi, RankPlace, []Piece{Text("(")}, []Piece{Text(")")})
				continue
			}
			moved = append(moved, BodyOf(b.Replace(lo, hi, RankCut, Text("_"))), Text(";"))
		}
		slices.Reverse(moved)
		b.Wrap(0, len(src), RankStmt, moved, nil)
		out, err := b.Render()
		if err != nil {
			return
		}
		wrong, words := misplaced(out)
		if wrong != "" {
			t.Errorf("%s in\n%s", wrong, out)
		}
		if words != len(starts)-1 {
			t.Errorf("%d words, want %d, in\n%s", words, len(starts)-1, out)
		}
		if bytes.Count(out, []byte("(")) != bytes.Count(out, []byte(")")) {
			t.Errorf("parentheses do not match in\n%s", out)
		}
	})
}
