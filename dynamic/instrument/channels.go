package instrument

import (
	"go/ast"

	"github.com/interlock-go/interlock/atomicsets/plan"
	"github.com/interlock-go/interlock/atomicsets/sites"
	"github.com/interlock-go/interlock/dynamic/instrument/internal/source"
	"github.com/interlock-go/interlock/dynamic/instrument/internal/textedit"
)

// closeLater has the monitor make a close that a defer or go statement makes later, since its operand
// is evaluated now:
//
//	defer close(c.done)    defer rt.Close(c.done, 1)
func (r *rewriter) closeLater(a *source.Access) {
	call := r.Up(a.Node).(*ast.CallExpr)
	a.Placed = true
	r.Cut(call.Fun, textedit.Textf("%srt.Close", r.Prefix))
	site := []textedit.Piece{textedit.Textf(", %d", a.ID)}
	r.Wrap(call.Args[0].Pos(), call.Args[0].End(), textedit.RankBehind, nil, site)
}

// leaveInterrupted leaves a send of a select statement unmonitored if an operand behind its channel calls or receives:
// all operands of all clauses are evaluated before anything is sent.
//
//	case x.ch <- v:
//	case <-next():    // called between the monitor's call for x.ch and the send
func (r *rewriter) leaveInterrupted(s *ast.SelectStmt) {
	interrupted := false
	for i := len(s.Body.List) - 1; i >= 0; i-- {
		switch comm := s.Body.List[i].(*ast.CommClause).Comm.(type) {
		case *ast.SendStmt:
			interrupted = interrupted || sites.CallsOrReceives(r.Info, comm.Value)
			a := r.Behind[ast.Unparen(comm.Chan)]
			if a != nil && a.Site.Variable.Kind == plan.KindChannel && interrupted {
				a.Unmonitored = source.Conditional
			}
			interrupted = interrupted || sites.CallsOrReceives(r.Info, comm.Chan)
		case *ast.ExprStmt:
			interrupted = interrupted || sites.CallsOrReceives(r.Info, received(comm.X))
		case *ast.AssignStmt:
			interrupted = interrupted || sites.CallsOrReceives(r.Info, received(comm.Rhs[0]))
		}
	}
}
