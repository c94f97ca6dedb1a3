package syncfix

import (
	"errors"
	"fmt"
	"go/ast"
	"slices"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/patchgen/internal/edit"
	"github.com/interlock-go/interlock/patchgen/internal/source"
	"github.com/interlock-go/interlock/patchgen/internal/strategy"
	"github.com/interlock-go/interlock/patchgen/internal/validate"
)

// closeSignal closes a channel, in a sync.Once, where a signal to stop was sent on it: a send reaches one receiver, and
// waits where none is left.
//
//	s.done <- struct{}{}	->	s.doneOnce.Do(func() { close(s.done) })
//
//	select {
//	case <-s.done:
//		return nil
//	default:
//		return err
//	}
//
// It applies to a field or a package variable of type chan struct{} that nobody closes, and of which each receiver
// leaves its function: the channel stays closed. Obligation: [validate.SignalClosed].
func closeSignal(p *Problem) (*strategy.Patch, error) {
	c, err := p.signalSentOn()
	if err != nil {
		return nil, err
	}
	if err := c.mayStayClosed(); err != nil {
		return nil, err
	}
	// A signal that was sent again would reach who starts to receive later.
	for _, m := range c.makes {
		if !p.isMadeAtStart(m) {
			return nil, fmt.Errorf("%s: %s is made again, and was closed by then", m.File.At(m.call), c.variable)
		}
	}
	name := source.LowerFirst(c.variable.Name) + "Once"
	edits := edit.New()
	beside := &strategy.Problem{Module: p.Module, Facts: p.Facts, Variable: c.variable}
	class, err := beside.DeclareOnce(edits, name, "closes "+c.variable.Name)
	if err != nil {
		return nil, err
	}
	out := &strategy.Patch{Claim: validate.Claim{Kind: validate.SignalClosed, Lock: class, Variable: c.claimed(p)}}
	for _, s := range c.sends {
		if err := c.closeAt(edits, s, name); err != nil {
			return nil, err
		}
		out.Doubts = append(out.Doubts, c.doubtsAt(s)...)
	}
	if !p.Bold {
		return nil, errors.New(out.Doubts[0].Text)
	}
	out.Files, err = edits.Files()
	return out, err
}

// signalSentOn returns the channel without values that a goroutine of the findings waits to send on.
func (p *Problem) signalSentOn() (*heldChannel, error) {
	for _, f := range p.Findings {
		for _, a := range f.Accesses {
			if a.Mode != finding.Send {
				continue
			}
			at, err := p.at(a.Position)
			if err != nil {
				return nil, err
			}
			send, ok := innermost[*ast.SendStmt](at)
			if !ok || !isStopType(at.file.TypeOf(send.Chan)) {
				return nil, strategy.NotMeant("%s: what is sent may be more than a signal", a.Position)
			}
			return p.held(at.file, send.Chan)
		}
	}
	return nil, strategy.NotMeant("no goroutine waits to send a signal")
}

// mayStayClosed returns an error unless each receive on the channel leaves its function, so that nobody finds the
// signal twice.
func (c *heldChannel) mayStayClosed() error {
	if err := c.isKnown(); err != nil {
		return err
	}
	if len(c.closes) > 0 {
		return strategy.NotMeant("%s: %s is closed already", c.closes[0].File.At(c.closes[0].Expr), c.variable)
	}
	if len(c.ranges) > 0 {
		return strategy.NotMeant("%s: each signal counts", c.ranges[0].File.At(c.ranges[0].Expr))
	}
	if len(c.receives) == 0 {
		return fmt.Errorf("nothing receives from %s under that name", c.variable)
	}
	for _, r := range c.receives {
		if !r.leaves() {
			return fmt.Errorf("%s: the function goes on after the signal, and would find it again", r.File.At(r.op))
		}
	}
	return nil
}

// leaves reports whether the function of a receive is left behind it, by a return of the case, or as the receive is in
// no loop.
func (r receiving) leaves() bool {
	if !r.File.IsWithin(r.Expr, source.IsLoop) {
		return true
	}
	body := r.behind()
	if len(body) == 0 {
		return false
	}
	_, returns := body[len(body)-1].(*ast.ReturnStmt)
	return returns
}

// behind returns the statements that follow a receive in its case, or in its list.
func (r receiving) behind() []ast.Stmt {
	if r.clause != nil {
		return r.clause.Body
	}
	s, ok := r.File.Parents[r.op].(ast.Stmt)
	if !ok {
		return nil
	}
	list := source.ListOf(r.File, s)
	return list[slices.Index(list, s)+1:]
}

// closeAt closes the channel where a signal is sent: in place of the send, or of the select of which that is the one
// case beside a default.
func (c *heldChannel) closeAt(edits *edit.Edits, s sending, name string) error {
	if s.Base == nil && c.variable.Owner != nil {
		return fmt.Errorf("%s: the object is not named", s.File.At(s.stmt))
	}
	if sel, isSelect := s.stmt.(*ast.SelectStmt); isSelect && (!s.polls || !hasOneOutcome(s.File, sel)) {
		return fmt.Errorf("%s: the send is a case of a select", s.File.At(sel))
	}
	do := name + ".Do"
	if s.Base != nil {
		do = s.File.Text(s.Base) + "." + do
	}
	edits.Replace(s.File, s.stmt, do+"(func() { close("+s.File.Text(s.Expr)+") })")
	return nil
}

// doubtsAt returns what is not known of a send that becomes a close: it does not wait for the receiver any more, and
// what is started again finds the channel closed.
func (c *heldChannel) doubtsAt(s sending) (list []finding.Doubt) {
	at := finding.Position{File: s.File.Path, Line: s.File.Line(s.stmt.Pos())}
	doubt := func(weight finding.Weight, text string, args ...any) {
		list = append(list, finding.Doubt{Obligation: "maker", Weight: weight, File: at.File, Line: at.Line,
			Text: fmt.Sprintf(text, args...)})
	}
	isWaiting := slices.ContainsFunc(c.makes, func(m made) bool { return m.isUnbuffered() })
	if isWaiting && !s.polls && !s.isLastIn() {
		doubt(finding.Heavy, "%s: the function goes on before the signal has been received: what follows may need that",
			s.File.At(s.stmt))
	}
	doubt(finding.Light, "%s: %s stays closed: what is started again on the same object stops at once", s.File.At(s.stmt),
		c.variable)
	return list
}

// isLastIn reports whether nothing follows a send in its function.
func (s sending) isLastIn() bool {
	f := s.Function
	return f != nil && len(f.Body.List) > 0 && f.Body.List[len(f.Body.List)-1] == s.stmt
}

// isMadeAtStart reports whether a channel is made in a literal, or while nobody else can reach its object.
func (p *Problem) isMadeAtStart(m made) bool {
	_, isLiteral := m.File.Parents[m.Expr].(*ast.KeyValueExpr)
	return isLiteral || m.Function == nil || p.Facts.IsPrivate(m.Access)
}
