package syncfix

import (
	"fmt"
	"go/ast"
	"slices"

	"github.com/interlock-go/interlock/patchgen/internal/edit"
	"github.com/interlock-go/interlock/patchgen/internal/strategy"
	"github.com/interlock-go/interlock/patchgen/internal/validate"
)

// leaveOpen leaves a channel open that others may still send on, and whose receivers have another way to learn of the
// end: the collector frees what nobody reaches, whether it is closed or not.
//
//	close(c.errs)		<- removed
//	c.cancel()
//
//	select {
//	case err := <-c.errs:
//	case <-ctx.Done():
//		return
//	}
//
// It applies to a field or a package variable that other packages cannot name, where each receive is a case beside a
// channel that stops the function. Obligation: [validate.LeftOpen].
func leaveOpen(p *Problem) (*strategy.Patch, error) {
	if !p.findsSend() {
		return nil, strategy.NotMeant("the finding names no send")
	}
	v, err := p.closedChannel()
	if err != nil {
		return nil, err
	}
	// Who receives from it has to do without the close.
	c := p.operationsOn(v)
	if len(c.closes) == 0 {
		c = p.handedFrom(c)
	}
	if err := c.mayStayOpen(); err != nil {
		return nil, err
	}
	// Each close is a statement that can go.
	edits := edit.New()
	for _, a := range c.closes {
		switch s := a.File.Parents[a.File.Parents[a.Expr]].(type) {
		case *ast.ExprStmt, *ast.DeferStmt:
			if !a.File.OwnLine(s) {
				return nil, fmt.Errorf("%s: more than the close stands there", a.File.At(s))
			}
			edits.DeleteLine(a.File, s)
		default:
			return nil, fmt.Errorf("%s: the close is no statement", a.File.At(a.Expr))
		}
	}
	files, err := edits.Files()
	return &strategy.Patch{Files: files, Claim: validate.Claim{Kind: validate.LeftOpen, Variable: c.claimed(p)}}, err
}

// handedFrom returns the channel that is handed to a function which sets this one to it, where that is closed; else
// this one.
//
//	newChannel(c.errs)	->	func newChannel(errs chan<- error) *channel { return &channel{errs: errs} }
func (p *Problem) handedFrom(c *heldChannel) *heldChannel {
	for _, a := range c.passed {
		id, ok := setTo(a).(*ast.Ident)
		if !ok || a.Function == nil || a.Function.Object == nil {
			continue
		}
		i := slices.Index(a.Function.Params(), a.File.Package.Info.ObjectOf(id))
		calls, _ := p.Module.References(a.Function)
		for _, call := range calls {
			args := a.Function.Arguments(call.Expr)
			if i < 0 || i >= len(args) || call.In == nil {
				continue
			}
			if of, err := p.held(call.In.File, args[i]); err == nil && len(of.closes) > 0 {
				return of
			}
		}
	}
	return c
}

// mayStayOpen returns an error where somebody learns of the end by the close of the channel alone.
func (c *heldChannel) mayStayOpen() error {
	if len(c.closes) == 0 {
		return fmt.Errorf("%s is closed under another name", c.variable)
	}
	if c.variable.Object.Exported() {
		return fmt.Errorf("%s is exported: who receives from it elsewhere may need the close", c.variable)
	}
	if len(c.ranges) > 0 {
		return fmt.Errorf("%s: the loop ends by the close", c.ranges[0].File.At(c.ranges[0].Expr))
	}
	if len(c.receives) == 0 {
		return fmt.Errorf("who receives from %s is not known", c.variable)
	}
	for _, r := range c.receives {
		if !r.polls() && (r.clause == nil || !r.hasStop()) {
			return fmt.Errorf("%s: the receiver may learn of the end by the close alone", r.File.At(r.op))
		}
	}
	return nil
}

// polls reports whether a receive does not wait: beside a default, or where the channel holds something.
//
//	for len(c.errs) > 0 { <-c.errs }
func (r receiving) polls() bool {
	if r.clause != nil {
		return slices.ContainsFunc(selectOf(r.File, r.clause).Body.List, func(s ast.Stmt) bool {
			return s.(*ast.CommClause).Comm == nil
		})
	}
	for n := r.File.Parents[r.op]; n != nil; n = r.File.Parents[n] {
		switch n := n.(type) {
		case *ast.ForStmt:
			return n.Cond != nil && r.File.Text(n.Cond) == "len("+r.File.Text(r.Expr)+") > 0"
		case *ast.FuncLit, *ast.FuncDecl:
			return false
		}
	}
	return false
}

// hasStop reports whether another case of the select of a receive stops the function: a context that is done, or a
// channel without values, behind which it returns.
func (r receiving) hasStop() bool {
	for _, s := range selectOf(r.File, r.clause).Body.List {
		other := s.(*ast.CommClause)
		if other == r.clause || other.Comm == nil || len(other.Body) == 0 {
			continue
		}
		_, returns := other.Body[len(other.Body)-1].(*ast.ReturnStmt)
		for _, receive := range receivesIn(other.Comm) {
			if returns && isStopType(r.File.TypeOf(receive.X)) {
				return true
			}
		}
	}
	return false
}
