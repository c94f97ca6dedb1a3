// Package textedit edits the text of a file by nested ranges. The original text is never
// printed from syntax, so that comments, directives and lines stay as they are.
package textedit

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
)

// Buffer edits a text by nested ranges. Every edit covers a range; two edits
// are disjoint, or one lies in the other. Ranges that are equal nest by rank.
type Buffer struct {
	Src   []byte
	edits []*Edit
	// Position of an offset: the line in the text, and the line and column
	// that a line directive must state to name it.
	Position func(offset int) Place
}

// Place is where a line directive says that a text stands.
type Place struct{ Line, StatedLine, StatedColumn int }

// Ranks, from the outermost to the innermost of edits with one range.
const (
	RankMark    = iota // around all others
	RankEvent          // calls before a statement, for events
	RankSection        // calls for sections, before and behind a statement
	RankStmt           // around a statement
	RankLock           // around the operand of a lock's method
	RankBehind         // around a map operand
	RankCut            // a range that moves
	RankPlace          // around an accessed place
)

// An Edit puts pre before and post after a range. The text of a cut range, with
// the edits inside it, does not appear there, but where a piece names it.
type Edit struct {
	lo, hi    int
	rank      int
	cut       bool
	Pre, Post []Piece
	inner     []*Edit // set by render
}

// Piece is literal text without line breaks, the text of a cut range, or a
// range as it was before all edits.
type Piece struct {
	Text   string
	Body   *Edit
	Lo, Hi int
}

// Text returns literal text.
func Text(s string) Piece { return Piece{Text: s} }

// Textf returns formatted text.
func Textf(f string, a ...any) Piece { return Text(fmt.Sprintf(f, a...)) }

// BodyOf returns the text that e has cut, with the edits inside it.
func BodyOf(e *Edit) Piece { return Piece{Body: e} }

// Wrap puts pre and post around [lo, hi).
func (b *Buffer) Wrap(lo, hi, rank int, pre, post []Piece) {
	b.edits = append(b.edits, &Edit{lo: lo, hi: hi, rank: rank, Pre: pre, Post: post})
}

// Replace cuts [lo, hi) and puts with in its place.
func (b *Buffer) Replace(lo, hi, rank int, with ...Piece) *Edit {
	e := &Edit{lo: lo, hi: hi, rank: rank, cut: true, Pre: with}
	b.edits = append(b.edits, e)
	return e
}

// Render returns the edited text, in which every original character still has
// its line.
func (b *Buffer) Render() ([]byte, error) {
	root, err := b.tree()
	if err != nil {
		return nil, err
	}
	r := &renderer{Buffer: b, line: 1}
	r.body(root)
	return r.out.Bytes(), nil
}

// tree nests the edits.
func (b *Buffer) tree() (*Edit, error) {
	slices.SortStableFunc(b.edits, func(x, y *Edit) int {
		return cmp.Or(cmp.Compare(x.lo, y.lo), cmp.Compare(y.hi, x.hi), cmp.Compare(x.rank, y.rank))
	})
	root := &Edit{lo: 0, hi: len(b.Src)}
	stack := []*Edit{root}
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
	*Buffer
	out  bytes.Buffer
	line int // where a compiler thinks that the text which is written next stands
}

// body writes the range of e with the edits inside it.
func (r *renderer) body(e *Edit) {
	at := e.lo
	for _, in := range e.inner {
		r.source(at, in.lo)
		r.pieces(in.Pre)
		if !in.cut {
			r.body(in)
		}
		r.pieces(in.Post)
		at = in.hi
	}
	r.source(at, e.hi)
}

func (r *renderer) pieces(list []Piece) {
	for _, p := range list {
		r.out.WriteString(p.Text)
		if p.Body != nil {
			r.body(p.Body)
		}
		r.source(p.Lo, p.Hi)
	}
}

// source writes [lo, hi) of the original, after a line directive if the
// compiler would take it for another line.
func (r *renderer) source(lo, hi int) {
	if lo == hi {
		return
	}
	if p := r.Position(lo); p.Line != r.line {
		fmt.Fprintf(&r.out, "/*line :%d:%d*/", p.StatedLine, p.StatedColumn)
		r.line = p.Line
	}
	r.out.Write(r.Src[lo:hi])
	r.line += bytes.Count(r.Src[lo:hi], []byte("\n"))
}
