package syncfix

import (
	"fmt"
	"go/ast"
	"strings"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/patchgen/internal/edit"
	"github.com/interlock-go/interlock/patchgen/internal/source"
	"github.com/interlock-go/interlock/patchgen/internal/strategy"
	"github.com/interlock-go/interlock/patchgen/internal/validate"
)

// nilChannel leaves out the wait for a channel that only some objects have, in the others:
//
//	if c.hasLoop {				if c.done != nil {	<- new
//		c.done = make(chan struct{})		<-c.done
//		go c.loop()			}			<- new
//	}
//
// A send or a receive on a nil channel never ends. It applies where the operation is a statement of its own, and the
// channel is a field that is set while nobody else can reach its object. Obligation: [validate.NilTested].
func nilChannel(p *Problem) (*strategy.Patch, error) {
	edits := edit.New()
	var c *heldChannel
	done := map[ast.Stmt]bool{}
	for _, f := range p.Findings {
		if f.Evidence != nil && f.Evidence.Blocked != "" && !strings.Contains(f.Evidence.Blocked, "nil chan") {
			return nil, strategy.NotMeant("no goroutine waits for a channel that is nil")
		}
		// Each operation that stands alone gets a test of its own.
		for _, a := range f.Accesses {
			if a.Mode != finding.Send && a.Mode != finding.Receive {
				continue
			}
			at, err := p.at(a.Position)
			if err != nil {
				return nil, err
			}
			s, e, err := loneOperation(at)
			if err != nil || done[s] {
				continue
			}
			if _, isSend := s.(*ast.SendStmt); isSend && !isStopType(at.file.TypeOf(e)) {
				return nil, fmt.Errorf("%s: what is sent would be lost", at.file.At(s))
			}
			if c, err = p.madeForSome(at.file, e); err != nil {
				return nil, err
			}
			edits.Before(at.file, s, func() string { return "if " + at.file.Text(e) + " != nil {" })
			edits.After(at.file, s, func() string { return "}" })
			done[s] = true
		}
	}
	if len(done) == 0 {
		return nil, strategy.NotMeant("no statement waits for a channel that is nil")
	}
	files, err := edits.Files()
	return &strategy.Patch{Files: files, Claim: validate.Claim{Kind: validate.NilTested, Variable: c.claimed(p)}}, err
}

// loneOperation returns the statement at a place that is nothing but a send or a receive that sets nothing, with its
// channel.
func loneOperation(at place) (ast.Stmt, ast.Expr, error) {
	s, ok := innermost[ast.Stmt](at)
	if !ok {
		return nil, nil, fmt.Errorf("%s: no statement stands there", at.file.At(at.path[0]))
	}
	if clause, isCase := at.file.Parents[s].(*ast.CommClause); isCase && clause.Comm == s {
		return nil, nil, fmt.Errorf("%s is a case of a select", at.file.At(s))
	}
	switch s := s.(type) {
	case *ast.SendStmt:
		return s, s.Chan, nil
	case *ast.ExprStmt:
		if receive, isReceive := ast.Unparen(s.X).(*ast.UnaryExpr); isReceive && source.IsWait(receive) {
			return s, receive.X, nil
		}
	}
	return nil, nil, fmt.Errorf("%s: the statement does more than to wait", at.file.At(s))
}

// madeForSome returns the channel of an expression, if it is a field that is made under a condition, or not in each
// literal of its struct, and never set when others can reach the object.
func (p *Problem) madeForSome(file *source.File, e ast.Expr) (*heldChannel, error) {
	c, err := p.held(file, e)
	if err != nil {
		return nil, err
	}
	if c.variable.Owner == nil {
		return nil, strategy.NotMeant("%s is not a field", c.variable)
	}
	if err := c.isKnown(); err != nil {
		return nil, err
	}
	isSometimes := false
	for _, m := range c.makes {
		_, isLiteral := m.File.Parents[m.Expr].(*ast.KeyValueExpr)
		if !isLiteral && !p.Facts.IsPrivate(m.Access) {
			return nil, fmt.Errorf("%s: %s may be made while another goroutine waits for it", m.File.At(m.call), c.variable)
		}
		isSometimes = isSometimes || !isLiteral && m.File.IsWithin(m.Expr, isBranch)
	}
	if !isSometimes {
		return nil, strategy.NotMeant("%s is made for each object", c.variable)
	}
	return c, nil
}

// isBranch reports whether a node is run only where a test comes out so.
func isBranch(n ast.Node) bool {
	switch n.(type) {
	case *ast.IfStmt, *ast.CaseClause:
		return true
	}
	return false
}
