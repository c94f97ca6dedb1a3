package syncfix

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/patchgen/internal/edit"
	"github.com/interlock-go/interlock/patchgen/internal/source"
	"github.com/interlock-go/interlock/patchgen/internal/strategy"
)

// signal closes a channel however its function returns, so that goroutines
// which wait for that are not left behind:
//
//	jobs := make(chan job)
//	defer close(jobs)	<- new, or from the end of the function
//	go func() {
//		for j := range jobs { … }
//	}()
//
// Where the function waits for them itself behind its last send, it closes the channel between the two.
// It applies where the function that makes the channel is the only one to send
// and to close, its goroutines range over the channel or wait for a
// chan struct{}, and nothing behind a Close that moves may wait. Obligation:
// [validate.Unblocked].
func signal(p *Problem) (*strategy.Patch, error) {
	c, err := p.blockedOn(finding.Receive)
	if err != nil {
		return nil, err
	}
	if err := c.diesWithFunction(); err != nil {
		return nil, err
	}
	// Who sends and who receives has to be able to bear the close.
	for _, s := range c.sends {
		if c.file.FunctionOf(s) != c.function {
			return nil, fmt.Errorf("%s: another goroutine sends, which a close would crash", c.file.At(s))
		}
	}
	for _, r := range c.receives {
		if err := c.understandsClose(r); err != nil {
			return nil, err
		}
	}
	// close(ch) at the end moves up; where there is none, one is added.
	edits := edit.New()
	switch {
	case len(c.closes) == 1:
		if err := p.moveClose(edits, c); err != nil {
			return nil, err
		}
	case len(c.closes) > 1:
		return nil, fmt.Errorf("%s is closed in %d places", c.object.Name(), len(c.closes))
	default:
		err := p.mayCloseAtReturn(c)
		if err == nil {
			break
		}
		// wg.Wait() follows, for those who range over the channel: it is closed behind the last send.
		last := c.lastSending()
		if last == nil {
			return nil, err
		}
		edits.After(c.file, last, func() string { return "close(" + c.object.Name() + ")" })
		files, err := edits.Files()
		return &strategy.Patch{Files: files, Claim: c.claim()}, err
	}
	edits.After(c.file, c.made, func() string { return "defer close(" + c.object.Name() + ")" })
	files, err := edits.Files()
	return &strategy.Patch{Files: files, Claim: c.claim()}, err
}

// understandsClose refuses receivers that would take a close for a value.
func (c *channel) understandsClose(r ast.Node) error {
	if f := c.file.FunctionOf(r); f != c.function {
		if _, ok := c.isStarted(f); !ok {
			return fmt.Errorf("%s: the receiver is no goroutine of its own", c.file.At(r))
		}
	}
	if _, ranges := r.(*ast.RangeStmt); ranges {
		return nil
	}
	st, ok := c.object.Type().Underlying().(*types.Chan).Elem().Underlying().(*types.Struct)
	if ok && st.NumFields() == 0 && !c.inLoop(r, c.function) {
		return nil
	}
	return fmt.Errorf("%s: the receiver would take the close for a value", c.file.At(r))
}

// moveClose takes the one close out of the function's own body.
func (p *Problem) moveClose(edits *edit.Edits, c *channel) error {
	call := c.closes[0]
	s, ok := c.file.Parents[call].(*ast.ExprStmt)
	if !ok || c.file.FunctionOf(call) != c.function {
		return fmt.Errorf("%s: %s is closed at another time already", c.file.At(call), c.object.Name())
	}
	if why := p.waitsBehind(c, s.End()); why != nil {
		return why
	}
	edits.DeleteLine(c.file, s)
	return nil
}

// mayCloseAtReturn refuses functions that wait for the goroutines which the close would end.
func (p *Problem) mayCloseAtReturn(c *channel) error {
	last := c.made.End()
	for _, s := range c.sends {
		last = max(last, s.End())
	}
	return p.waitsBehind(c, last)
}

// lastSending returns the statement of the function's own list with the last send, if every call of the function comes
// to its end; else nil.
func (c *channel) lastSending() ast.Stmt {
	var last ast.Stmt
	for _, s := range c.function.Body.List {
		for _, send := range c.sends {
			if s.Pos() <= send.Pos() && send.End() <= s.End() {
				last = s
			}
		}
	}
	if last == nil {
		return nil
	}
	// A return on the way would leave the channel open.
	for _, s := range c.function.Body.List {
		leaves := false
		ast.Inspect(s, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncLit:
				return false
			case *ast.ReturnStmt:
				leaves = true
			case *ast.CallExpr:
				leaves = leaves || source.IsBuiltin(c.file, n, "panic")
			}
			return true
		})
		if leaves && s.Pos() > c.made.Pos() && s.Pos() <= last.Pos() {
			return nil
		}
	}
	return last
}

// waitsBehind returns an error where a statement of the function behind pos may wait.
func (p *Problem) waitsBehind(c *channel, pos token.Pos) (err error) {
	ast.Inspect(c.function.Body, func(n ast.Node) bool {
		if _, isLit := n.(*ast.FuncLit); isLit || err != nil {
			return false
		}
		s, ok := n.(ast.Stmt)
		if ok && s.Pos() >= pos {
			if why := p.Facts.Blocks(c.file, s); why != "" {
				err = fmt.Errorf("%s %s before the function returns, and may wait for those who need the close", c.file.At(s), why)
			}
			return false
		}
		return true
	})
	return err
}
