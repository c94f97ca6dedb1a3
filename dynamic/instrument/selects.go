package instrument

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/interlock-go/interlock/dynamic/instrument/internal/evalorder"
	"github.com/interlock-go/interlock/dynamic/instrument/internal/source"
	"github.com/interlock-go/interlock/dynamic/instrument/internal/textedit"
)

// selectStmt rewrites a select statement. Operands of its clauses are
// evaluated on entry, all of them, and have no place for temporaries.
// Targets of a receive are evaluated after it, in the chosen clause:
//
//	case x.f = <-ch:     case _il1 := <-ch: (*rt.W(&x.f, 1)) = _il1
func (r *rewriter) selectStmt(s *ast.SelectStmt) {
	r.leaveInterrupted(s)
	for _, c := range s.Body.List {
		c := c.(*ast.CommClause)
		r.announced = nil // targets of the clause before come after its receive
		switch comm := c.Comm.(type) {
		case *ast.SendStmt:
			r.value(comm.Chan, false)
			r.value(comm.Value, false)
		case *ast.ExprStmt:
			r.value(received(comm.X), false)
		case *ast.AssignStmt:
			r.value(received(comm.Rhs[0]), false)
			if comm.Tok == token.ASSIGN {
				r.announced = nil
				r.receiveInto(comm, c)
			}
		}
		r.stmts(c.Body)
	}
}

// received returns the channel operand of a receive.
func received(e ast.Expr) ast.Expr {
	return ast.Unparen(e).(*ast.UnaryExpr).X
}

// receiveInto moves monitored targets of a receive into the clause.
func (r *rewriter) receiveInto(s *ast.AssignStmt, c *ast.CommClause) {
	if !r.anyMonitored(s.Lhs) {
		for _, lhs := range s.Lhs {
			r.closures(lhs)
		}
		return
	}
	// A temporary takes each value if it has the type that the target asks for.
	elem := channelElem(r.Info.TypeOf(received(s.Rhs[0])))
	ok := elem != nil && (source.IsBlank(s.Lhs[0]) || types.AssignableTo(elem, r.Info.TypeOf(s.Lhs[0]))) &&
		(len(s.Lhs) == 1 || source.IsBlank(s.Lhs[1]) || types.AssignableTo(types.Typ[types.Bool], r.Info.TypeOf(s.Lhs[1])))
	tree := &evalorder.Node{}
	for _, lhs := range s.Lhs {
		if !source.IsBlank(lhs) {
			r.closures(lhs)
			r.Expr(lhs, tree)
		}
	}
	for i, lhs := range s.Lhs {
		if a := r.store(lhs); a != nil && (!ok || i > 0 && evalorder.MayPanic(r.Info, lhs)) {
			a.Unmonitored = source.Order
		}
	}
	// Calls in the targets' operands are evaluated behind the receive, in the clause.
	before := r.settle(tree, ok)
	if !tree.Monitored() {
		return
	}
	// case x.f, ok = <-ch:     case _il1, _il2 := <-ch: (*rt.W(&x.f, 1)), ok = _il1, _il2
	var names, targets []textedit.Piece
	for _, lhs := range s.Lhs {
		if source.IsBlank(lhs) {
			continue
		}
		if targets != nil {
			names, targets = append(names, textedit.Text(", ")), append(targets, textedit.Text(", "))
		}
		name := textedit.Text(r.NewTemp())
		names, targets = append(names, name), append(targets, textedit.BodyOf(r.Cut(lhs, name)))
	}
	r.Edits.Replace(r.Offset(s.TokPos), r.Offset(s.TokPos)+1, textedit.RankStmt, textedit.Text(":="))
	after := append([]textedit.Piece{textedit.Text(" ")}, before...)
	after = append(append(append(after, targets...), textedit.Text(" = ")), names...)
	r.Wrap(c.Colon, c.Colon+1, textedit.RankStmt, nil, append(after, textedit.Text("; ")))
}

func (r *rewriter) anyMonitored(list []ast.Expr) bool {
	found := false
	for _, e := range list {
		ast.Inspect(e, func(n ast.Node) bool {
			if x, ok := n.(ast.Expr); ok && (r.Places[x] != nil || r.Behind[x] != nil) {
				found = true
			}
			return !found
		})
	}
	return found
}
