package syncfix

import (
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"strings"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/patchgen/internal/edit"
	"github.com/interlock-go/interlock/patchgen/internal/source"
	"github.com/interlock-go/interlock/patchgen/internal/strategy"
	"github.com/interlock-go/interlock/patchgen/internal/validate"
)

// keepWakeup makes room for a wake-up for which nobody waits yet. Without it, the wake-up is lost where it is sent
// between the waiter's test and its receive:
//
//	wake: make(chan struct{})	->	wake: make(chan struct{}, 1)
//
//	for q.isFull() {		select {
//		<-q.wake		case q.wake <- struct{}{}:
//	}				default:
//					}
//
// It applies where each send is such a case beside a default, that does the same as the default, and sends the same
// value each time; and where each receive is in a loop, which tests again: the wake-up may be an old one.
// Obligation: [validate.KeepsWakeup].
func keepWakeup(p *Problem) (*strategy.Patch, error) {
	c, err := p.awaitedChannel()
	if err != nil {
		return nil, err
	}
	if err := c.isWakeup(); err != nil {
		return nil, err
	}
	edits := edit.New()
	for _, m := range c.makes {
		if len(m.call.Args) == 1 {
			end := m.File.Offset(m.call.Args[0].End())
			edits.Add(m.File, end, end, func() string { return ", 1" })
		} else {
			edits.Replace(m.File, m.call.Args[1], "1")
		}
	}
	files, err := edits.Files()
	return &strategy.Patch{Files: files, Claim: validate.Claim{Kind: validate.KeepsWakeup, Variable: c.claimed(p)}}, err
}

// awaitedChannel returns the channel in a field or a package variable that a goroutine of the findings waits to receive
// from, alone or in a select, and that is sent on without waiting.
func (p *Problem) awaitedChannel() (*heldChannel, error) {
	reason := strategy.NotMeant("no goroutine waits to receive a wake-up")
	for _, f := range p.Findings {
		for _, a := range f.Accesses {
			if a.Mode != finding.Receive && a.Mode != finding.Wait {
				continue
			}
			at, err := p.at(a.Position)
			if err != nil {
				return nil, err
			}
			for _, receive := range receivesAt(at) {
				c, err := p.held(at.file, receive.X)
				if err == nil {
					err = c.isPolled()
				}
				if err == nil {
					return c, nil
				}
				reason = err
			}
		}
	}
	return nil, reason
}

// receivesAt lists the receives of the operation at a place: those of all cases, where that is a select.
func receivesAt(at place) (list []*ast.UnaryExpr) {
	if sel, ok := innermost[*ast.SelectStmt](at); ok && sel.Pos() == at.path[0].Pos() {
		for _, s := range sel.Body.List {
			if comm := s.(*ast.CommClause).Comm; comm != nil {
				list = append(list, receivesIn(comm)...)
			}
		}
		return list
	}
	if s, ok := innermost[ast.Stmt](at); ok {
		return receivesIn(s)
	}
	return nil
}

func receivesIn(s ast.Stmt) (list []*ast.UnaryExpr) {
	ast.Inspect(s, func(n ast.Node) bool {
		if receive, ok := n.(*ast.UnaryExpr); ok && source.IsWait(receive) {
			list = append(list, receive)
		}
		_, isBlock := n.(*ast.BlockStmt)
		return !isBlock
	})
	return list
}

// isPolled returns an error unless the channel is sent on, and no send waits.
func (c *heldChannel) isPolled() error {
	if len(c.sends) == 0 {
		return strategy.NotMeant("nothing is sent on %s under that name", c.variable)
	}
	for _, s := range c.sends {
		if !s.polls {
			return strategy.NotMeant("%s: the send on %s waits for a receiver", s.File.At(s.stmt), c.variable)
		}
	}
	return nil
}

// isWakeup returns an error unless the channel has no room, its values say no more than that there was one, and its
// receivers test again what they wait for.
func (c *heldChannel) isWakeup() error {
	if err := c.isKnown(); err != nil {
		return err
	}
	// Room, and values, would say more.
	for _, m := range c.makes {
		if !m.isUnbuffered() {
			return fmt.Errorf("%s: %s has room already", m.File.At(m.call), c.variable)
		}
	}
	value := ""
	for _, s := range c.sends {
		sel := s.stmt.(*ast.SelectStmt)
		send := s.File.Parents[s.Expr].(*ast.SendStmt)
		text := s.File.Text(send.Value)
		if isStopType(s.File.TypeOf(s.Expr)) {
			text = "struct{}{}"
		} else if s.File.Package.Info.Types[send.Value].Value == nil {
			return fmt.Errorf("%s: the receiver may need the value", s.File.At(send))
		}
		if value != "" && value != text {
			return fmt.Errorf("%s: the values that are sent differ", s.File.At(send))
		}
		value = text
		if !hasOneOutcome(s.File, sel) {
			return fmt.Errorf("%s: the sender does something else where it has been received", s.File.At(sel))
		}
	}
	// Who receives an old one has to test again.
	if len(c.ranges) > 0 {
		return fmt.Errorf("%s: each wake-up counts", c.ranges[0].File.At(c.ranges[0].Expr))
	}
	if len(c.receives) == 0 {
		return errors.New("nothing receives the wake-up under that name")
	}
	for _, r := range c.receives {
		if !r.File.IsWithin(r.Expr, source.IsLoop) {
			return fmt.Errorf("%s: what is waited for is not tested again, so that an old wake-up would end the wait",
				r.File.At(r.op))
		}
		if r.endsLoop() {
			return fmt.Errorf("%s: the loop ends there, so that an old wake-up would end it", r.File.At(r.op))
		}
	}
	return nil
}

// hasOneOutcome reports whether a select of one send and a default does the same in both cases: nothing, or the same
// return.
func hasOneOutcome(file *source.File, sel *ast.SelectStmt) bool {
	if len(sel.Body.List) != 2 {
		return false
	}
	var done []string
	for _, s := range sel.Body.List {
		var words []string
		for _, stmt := range s.(*ast.CommClause).Body {
			words = append(words, file.Text(stmt))
		}
		done = append(done, strings.Join(words, "\n"))
	}
	// default: return, as the last statement of a function, is the same as nothing
	f := file.FunctionOf(sel)
	isEnd := f != nil && len(f.Body.List) > 0 && f.Body.List[len(f.Body.List)-1] == ast.Stmt(sel)
	for i := range done {
		if isEnd && done[i] == "return" {
			done[i] = ""
		}
	}
	return done[0] == done[1] && (done[0] == "" || done[0] == "return" || done[0] == "continue")
}

// endsLoop reports whether the loop around a receive is left behind it.
func (r receiving) endsLoop() bool {
	body := r.behind()
	if len(body) == 0 {
		return false
	}
	jump, isJump := body[len(body)-1].(*ast.BranchStmt)
	return r.leaves() || isJump && jump.Tok != token.CONTINUE && (jump.Label != nil || r.clause == nil)
}

// claimed names the channel for a claim.
func (c *heldChannel) claimed(p *Problem) validate.Variable {
	return (&strategy.Problem{Module: p.Module, Facts: p.Facts, Variable: c.variable}).Claimed()
}
