package instrument

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

func newBuffer(src string) *buffer {
	return &buffer{src: []byte(src), position: func(offset int) place {
		line := 1 + strings.Count(src[:offset], "\n")
		return place{line, line, offset - strings.LastIndexByte(src[:offset], '\n')}
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
	rhs := b.replace(6, 16, rankCut, text("_1"))
	b.wrap(12, 15, rankPlace, []piece{text("R(")}, []piece{text(")")})
	b.wrap(0, 16, rankStmt, []piece{text("{ _1 := "), bodyOf(rhs), text("; ")}, []piece{text(" }")})
	b.wrap(0, 3, rankPlace, []piece{text("W(")}, []piece{text(")")})
	got, err := b.render()
	const want = "{ _1 := g(\n1, R(y.f)); W(/*line :1:1*/x.f) = _1 }/*line :2:8*/\n"
	if err != nil || string(got) != want {
		t.Errorf("render: %v\n got %q\nwant %q", err, got, want)
	}
}

func TestBufferRanks(t *testing.T) {
	b := newBuffer("m")
	b.wrap(0, 1, rankPlace, []piece{text("R(")}, []piece{text(")")})
	b.wrap(0, 1, rankBehind, []piece{text("MR(")}, []piece{text(")")})
	b.wrap(0, 1, rankStmt, []piece{text("{")}, []piece{text("}")})
	got, err := b.render()
	if err != nil || string(got) != "{MR(R(m))}" {
		t.Errorf("render: %q, %v", got, err)
	}
}

func TestBufferOverlap(t *testing.T) {
	for _, second := range [][2]int{{2, 5}, {3, 3}} {
		b := newBuffer("abcdef")
		b.wrap(0, 4, rankStmt, nil, nil)
		b.wrap(second[0], second[1], rankStmt, nil, nil)
		if got, err := b.render(); err == nil {
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
		var moved []piece
		for ; len(data) >= 3; data = data[3:] {
			i := int(data[0]) % (len(starts) - 1)
			j := min(i+1+int(data[1])%40, len(starts)-1)
			lo, hi := starts[i], starts[j]
			if data[2]%2 == 0 {
				b.wrap(lo, hi, rankPlace, []piece{text("(")}, []piece{text(")")})
				continue
			}
			moved = append(moved, bodyOf(b.replace(lo, hi, rankCut, text("_"))), text(";"))
		}
		slices.Reverse(moved)
		b.wrap(0, len(src), rankStmt, moved, nil)
		out, err := b.render()
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
