package instrument

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
)

// buffer edits a text by nested ranges. Every edit covers a range; two edits
// are disjoint, or one lies in the other. Ranges that are equal nest by rank.
type buffer struct {
	src   []byte
	edits []*edit
	// position of an offset: the line in the text, and the line and column
	// that a line directive must state to name it.
	position func(offset int) place
}

type place struct{ line, statedLine, statedColumn int }

// Ranks, from the outermost to the innermost of edits with one range.
const (
	rankMark    = iota // around all others
	rankSection        // calls for sections, before and behind a statement
	rankStmt           // around a statement
	rankBehind         // around a map operand
	rankCut            // a range that moves
	rankPlace          // around an accessed place
)

// edit puts pre before and post after a range. The text of a cut range, with
// the edits inside it, does not appear there, but where a piece names it.
type edit struct {
	lo, hi    int
	rank      int
	cut       bool
	pre, post []piece
	inner     []*edit // set by render
}

// piece is literal text without line breaks, the text of a cut range, or a
// range as it was before all edits.
type piece struct {
	text   string
	body   *edit
	lo, hi int
}

func text(s string) piece            { return piece{text: s} }
func bodyOf(e *edit) piece           { return piece{body: e} }
func textf(f string, a ...any) piece { return text(fmt.Sprintf(f, a...)) }

// wrap puts pre and post around [lo, hi).
func (b *buffer) wrap(lo, hi, rank int, pre, post []piece) {
	b.edits = append(b.edits, &edit{lo: lo, hi: hi, rank: rank, pre: pre, post: post})
}

// replace cuts [lo, hi) and puts with in its place.
func (b *buffer) replace(lo, hi, rank int, with ...piece) *edit {
	e := &edit{lo: lo, hi: hi, rank: rank, cut: true, pre: with}
	b.edits = append(b.edits, e)
	return e
}

// render returns the edited text, in which every original character still has
// its line.
func (b *buffer) render() ([]byte, error) {
	root, err := b.tree()
	if err != nil {
		return nil, err
	}
	r := &renderer{buffer: b, line: 1}
	r.body(root)
	return r.out.Bytes(), nil
}

// tree nests the edits.
func (b *buffer) tree() (*edit, error) {
	slices.SortStableFunc(b.edits, func(x, y *edit) int {
		return cmp.Or(cmp.Compare(x.lo, y.lo), cmp.Compare(y.hi, x.hi), cmp.Compare(x.rank, y.rank))
	})
	root := &edit{lo: 0, hi: len(b.src)}
	stack := []*edit{root}
	for _, e := range b.edits {
		e.inner = nil
		for len(stack) > 1 && stack[len(stack)-1].hi <= e.lo {
			stack = stack[:len(stack)-1]
		}
		outer := stack[len(stack)-1]
		if e.lo >= e.hi || e.hi > outer.hi {
			return nil, fmt.Errorf("edit [%d, %d) does not lie in [%d, %d)", e.lo, e.hi, outer.lo, outer.hi)
		}
		outer.inner = append(outer.inner, e)
		stack = append(stack, e)
	}
	return root, nil
}

type renderer struct {
	*buffer
	out  bytes.Buffer
	line int // line that a compiler gives to what is written next
}

// body writes the range of e with the edits inside it.
func (r *renderer) body(e *edit) {
	at := e.lo
	for _, in := range e.inner {
		r.source(at, in.lo)
		r.pieces(in.pre)
		if !in.cut {
			r.body(in)
		}
		r.pieces(in.post)
		at = in.hi
	}
	r.source(at, e.hi)
}

func (r *renderer) pieces(list []piece) {
	for _, p := range list {
		r.out.WriteString(p.text)
		if p.body != nil {
			r.body(p.body)
		}
		r.source(p.lo, p.hi)
	}
}

// source writes [lo, hi) of the original, after a line directive if the
// compiler would take it for another line.
func (r *renderer) source(lo, hi int) {
	if lo == hi {
		return
	}
	if p := r.position(lo); p.line != r.line {
		fmt.Fprintf(&r.out, "/*line :%d:%d*/", p.statedLine, p.statedColumn)
		r.line = p.line
	}
	r.out.Write(r.src[lo:hi])
	r.line += bytes.Count(r.src[lo:hi], []byte("\n"))
}
