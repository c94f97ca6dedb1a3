package instrument

import (
	"go/ast"
	"go/token"
	"go/types"
)

// selectStmt rewrites a select statement. Operands of its clauses are
// evaluated on entry, all of them, and have no place for temporaries.
// Targets of a receive are evaluated after it, in the chosen clause:
//
//	case x.f = <-ch:     case _il1 := <-ch: (*rt.W(&x.f, 1)) = _il1
func (r *rewriter) selectStmt(s *ast.SelectStmt) {
	for _, c := range s.Body.List {
		c := c.(*ast.CommClause)
		r.just = nil // targets of the clause before come after its receive
		switch comm := c.Comm.(type) {
		case *ast.SendStmt:
			r.value(comm.Chan, false)
			r.value(comm.Value, false)
		case *ast.ExprStmt:
			r.value(received(comm.X), false)
		case *ast.AssignStmt:
			r.value(received(comm.Rhs[0]), false)
			if comm.Tok == token.ASSIGN {
				r.just = nil
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
	elem := channelElem(r.info.TypeOf(received(s.Rhs[0])))
	ok := elem != nil && (isBlank(s.Lhs[0]) || types.AssignableTo(elem, r.info.TypeOf(s.Lhs[0]))) &&
		(len(s.Lhs) == 1 || isBlank(s.Lhs[1]) || types.AssignableTo(types.Typ[types.Bool], r.info.TypeOf(s.Lhs[1])))
	tree := &node{}
	for _, lhs := range s.Lhs {
		if !isBlank(lhs) {
			r.closures(lhs)
			r.expr(lhs, tree)
		}
	}
	for i, lhs := range s.Lhs {
		if a := r.store(lhs); a != nil && (!ok || i > 0 && mayPanic(r.info, lhs)) {
			a.left = Order
		}
	}
	before := r.settle(tree, ok)
	if !tree.monitored() {
		return
	}
	var names, targets []piece
	for _, lhs := range s.Lhs {
		if isBlank(lhs) {
			continue
		}
		if targets != nil {
			names, targets = append(names, text(", ")), append(targets, text(", "))
		}
		name := text(r.newTemp())
		names, targets = append(names, name), append(targets, bodyOf(r.cut(lhs, name)))
	}
	r.edits.replace(r.offset(s.TokPos), r.offset(s.TokPos)+1, rankStmt, text(":="))
	after := append([]piece{text(" ")}, before...)
	after = append(append(append(after, targets...), text(" = ")), names...)
	r.wrap(c.Colon, c.Colon+1, rankStmt, nil, append(after, text("; ")))
}

// monitored reports whether an access of the tree still is to be monitored.
func (n *node) monitored() bool {
	found := false
	n.walk(func(k *node) {
		for _, h := range k.hooks {
			found = found || h.left == ""
		}
	})
	return found
}

func (r *rewriter) anyMonitored(list []ast.Expr) bool {
	found := false
	for _, e := range list {
		ast.Inspect(e, func(n ast.Node) bool {
			if x, ok := n.(ast.Expr); ok && (r.places[x] != nil || r.behind[x] != nil) {
				found = true
			}
			return !found
		})
	}
	return found
}
