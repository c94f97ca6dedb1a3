package instrument

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"github.com/interlock-go/interlock/dynamic/instrument/internal/evalorder"
	"github.com/interlock-go/interlock/dynamic/instrument/internal/textedit"
)

// settle returns the statements that must come before the statement of the tree, each
// with its semicolon.
func (r *rewriter) settle(tree *evalorder.Node, may bool) []textedit.Piece {
	r.announced = tree.LeaveRepeated(r.announced)
	if !r.Settle(tree, may) {
		return nil
	}
	return r.emit(tree)
}

// emit returns the statements that evaluate the marked nodes below n, in gc's
// order, and puts the names of the temporaries in their place.
func (r *rewriter) emit(n *evalorder.Node) []textedit.Piece {
	if !n.Spilled {
		return r.emitKids(n)
	}
	if n.Kind == evalorder.Logic && n.Kids[1].AnySpilled() {
		return r.emitIf(n)
	}
	edits := make([]*textedit.Edit, len(n.Exprs))
	for i, e := range n.Exprs {
		if !r.Keeps(n, i) {
			edits[i] = r.Cut(e)
		}
	}
	out := r.emitKids(n)
	return append(out, r.define(n, edits)...)
}

func (r *rewriter) emitKids(n *evalorder.Node) []textedit.Piece {
	var out []textedit.Piece
	for _, k := range n.Kids {
		out = append(out, r.emit(k)...)
	}
	return out
}

// define names the values of n's expressions, and cuts their texts.
func (r *rewriter) define(n *evalorder.Node, edits []*textedit.Edit) []textedit.Piece {
	// One expression may have several results: _il1, _il2 := g()
	if len(edits) == 1 && edits[0] != nil {
		count := max(n.Results, 1)
		if t, ok := r.Info.TypeOf(n.Exprs[0]).(*types.Tuple); ok {
			count = t.Len()
		}
		for i := range count {
			n.Temps = append(n.Temps, r.resultName(n, i))
		}
		names := strings.Join(n.Temps, ", ")
		edits[0].Pre = []textedit.Piece{textedit.Text(names)}
		out := append([]textedit.Piece{textedit.Text(names + " := ")}, r.asTyped(n.Exprs[0], edits[0])...)
		return append(out, textedit.Text("; "))
	}
	// Several expressions have one each, and some stay where they are: _il1 := g()
	n.Temps = make([]string, len(n.Exprs))
	var names []string
	var bodies []textedit.Piece
	for i, e := range edits {
		if e == nil {
			continue
		}
		n.Temps[i] = r.resultName(n, i)
		e.Pre = []textedit.Piece{textedit.Text(n.Temps[i])}
		names = append(names, n.Temps[i])
		if len(bodies) > 0 {
			bodies = append(bodies, textedit.Text(", "))
		}
		bodies = append(bodies, r.asTyped(n.Exprs[i], e)...)
	}
	if names == nil {
		return nil
	}
	out := append([]textedit.Piece{textedit.Text(strings.Join(names, ", ") + " := ")}, bodies...)
	return append(out, textedit.Text("; "))
}

// resultName names the i-th value of n: blank for the blank variable of a
// declaration, which nobody would use.
func (r *rewriter) resultName(n *evalorder.Node, i int) string {
	if n.Blank != nil && n.Blank[i] {
		return "_"
	}
	return r.NewTemp()
}

// emitIf makes an if statement of a && or || if something in the right operand
// moves.
func (r *rewriter) emitIf(n *evalorder.Node) []textedit.Piece {
	e := ast.Unparen(n.Exprs[0]).(*ast.BinaryExpr)
	name, not := r.NewTemp(), ""
	if e.Op == token.LOR {
		not = "!"
	}
	r.Cut(n.Exprs[0], textedit.Text(name))
	lhs, rhs := r.Cut(e.X), r.Cut(e.Y)
	conv, _ := r.ConversionOf(n.Exprs[0])
	out := r.emit(n.Kids[0])
	out = append(out, textedit.Text(name+" := "+conv+"("), textedit.BodyOf(lhs), textedit.Text("); if "+not+name+" { "))
	out = append(out, r.emit(n.Kids[1])...)
	return append(out, textedit.Text(name+" = "), textedit.BodyOf(rhs), textedit.Text(" }; "))
}

// asTyped returns the text of the cut expression x as a value of its type.
func (r *rewriter) asTyped(x ast.Expr, cut *textedit.Edit) []textedit.Piece {
	if conv, _ := r.ConversionOf(x); conv != "" {
		return []textedit.Piece{textedit.Text(conv + "("), textedit.BodyOf(cut), textedit.Text(")")}
	}
	return []textedit.Piece{textedit.BodyOf(cut)}
}
