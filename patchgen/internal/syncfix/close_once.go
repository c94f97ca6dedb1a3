package syncfix

import (
	"errors"
	"fmt"
	"go/ast"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/patchgen/internal/edit"
	"github.com/interlock-go/interlock/patchgen/internal/source"
	"github.com/interlock-go/interlock/patchgen/internal/strategy"
	"github.com/interlock-go/interlock/patchgen/internal/validate"
)

// closeOnce closes a channel in a sync.Once beside it, wherever it is closed:
//
//	select {
//	case <-s.done:			s.doneOnce.Do(func() {
//	default:		->		close(s.done)
//		close(s.done)		})
//	}
//
// It applies to fields and package variables that hold one channel only, and on which nobody sends: a sender
// would find it closed all the same. Where a lock, and a test under it of what is set there, keep a second close out,
// there is nothing to correct. Obligation: [validate.ClosedOnce].
func closeOnce(p *Problem) (*strategy.Patch, error) {
	v, err := p.closedChannel()
	if err != nil {
		return nil, err
	}
	name := source.LowerFirst(v.Name) + "Once"
	beside := &strategy.Problem{Module: p.Module, Facts: p.Facts, Variable: v, Accesses: p.Module.Accesses(v)}
	edits := edit.New()
	class, err := beside.DeclareOnce(edits, name, "closes "+v.Name)
	if err != nil {
		return nil, err
	}
	closes := 0
	for _, a := range beside.Accesses {
		switch n := a.File.Parents[a.Expr].(type) {
		case *ast.SendStmt:
			if n.Chan == a.Expr && (!p.Bold || p.findsSend()) {
				return nil, fmt.Errorf("%s: a send may find the channel closed", a.File.At(n))
			}
		case *ast.CallExpr:
			if !source.IsBuiltin(a.File, n, "close") {
				continue
			}
			if test := settingTest(a.File, n); test != nil && len(p.Facts.Classes(a)) > 0 {
				return nil, fmt.Errorf("%s: a test under the lock keeps a second close out", a.File.At(test))
			}
			if err := closeWithin(edits, a, n, name); err != nil {
				return nil, err
			}
			closes++
		}
		// done = make(chan struct{}) again: the Once would not close the next one
		if a.Mode.Writes() && a.Function != nil && !p.Facts.IsPrivate(a) && !(p.Bold && isInOnce(a)) {
			return nil, fmt.Errorf("%s: %s is set again", a.File.At(a.Expr), v)
		}
		if a.Mode == source.Address {
			return nil, fmt.Errorf("%s: the address of %s is taken", a.File.At(a.Expr), v)
		}
	}
	if closes == 0 {
		return nil, fmt.Errorf("%s is closed under another name", v)
	}
	files, err := edits.Files()
	claim := validate.Claim{Kind: validate.ClosedOnce, Lock: class,
		Variable: validate.Variable{Package: v.Object.Pkg().Path(), Name: v.Name}}
	if v.Owner != nil {
		claim.Variable.Type = finding.TypeName(v.Owner.Obj())
	}
	return &strategy.Patch{Files: files, Claim: claim}, err
}

// closedChannel returns the variable that holds the channel of the findings: by its close, or by the send that has
// found it closed, where that is all that a run has shown.
func (p *Problem) closedChannel() (*source.Variable, error) {
	v, err := p.channelOfClose()
	if v != nil || err != nil {
		return v, err
	}
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
			if !ok {
				return nil, fmt.Errorf("%s: no send stands there", a.Position)
			}
			c, err := p.held(at.file, send.Chan)
			if err != nil {
				return nil, err
			}
			return c.variable, nil
		}
	}
	return nil, errors.New("the finding names no close")
}

// channelOfClose returns the variable of the channel by the close that a finding names; nil where none does.
func (p *Problem) channelOfClose() (*source.Variable, error) {
	for _, f := range p.Findings {
		for _, a := range f.Accesses {
			if a.Mode != finding.CloseChan {
				continue
			}
			at, err := p.at(a.Position)
			if err != nil {
				return nil, err
			}
			call, ok := innermost[*ast.CallExpr](at)
			if !ok || !source.IsBuiltin(at.file, call, "close") {
				return nil, fmt.Errorf("%s: no close stands there", a.Position)
			}
			e, obj := at.file.VariableOf(ast.Unparen(call.Args[0]))
			if obj == nil || !obj.IsField() && !source.IsGlobal(obj) {
				return nil, fmt.Errorf("%s: %s is no field and no package variable", at.file.At(call),
					at.file.Text(call.Args[0]))
			}
			return p.Module.NewVariable(obj, at.file, e), nil
		}
	}
	return nil, nil
}

// closeWithin puts one close into the Once, with the select that looked whether the channel was closed already.
func closeWithin(edits *edit.Edits, a *source.Access, call *ast.CallExpr, name string) error {
	do := name + ".Do"
	if sel, ok := a.Expr.(*ast.SelectorExpr); ok {
		do = a.File.Text(sel.X) + "." + do
	}
	text := do + "(func() { close(" + a.File.Text(a.Expr) + ") })"
	switch s := a.File.Parents[call].(type) {
	case *ast.ExprStmt:
		if test := closedTest(a.File, s); test != nil {
			edits.Replace(a.File, test, text)
			return nil
		}
		edits.Replace(a.File, s, text)
		return nil
	case *ast.DeferStmt:
		edits.Replace(a.File, s.Call, text)
		return nil
	}
	return fmt.Errorf("%s: the close is no statement", a.File.At(call))
}

// settingTest returns the test in the function of a close of what the function then sets; nil if there is none:
//
//	if s.err != nil {
//		return
//	}
//	s.err = err
//	close(s.done)
func settingTest(file *source.File, call *ast.CallExpr) *ast.IfStmt {
	f := file.FunctionOf(call)
	if f == nil {
		return nil
	}
	// What is set comes first, then the tests of it before the close.
	set := map[string]bool{}
	ast.Inspect(f.Body, func(n ast.Node) bool {
		if a, ok := n.(*ast.AssignStmt); ok {
			for _, left := range a.Lhs {
				set[file.Text(left)] = true
			}
		}
		return true
	})
	var found *ast.IfStmt
	ast.Inspect(f.Body, func(n ast.Node) bool {
		test, ok := n.(*ast.IfStmt)
		if !ok || test.Pos() > call.Pos() {
			return true
		}
		ast.Inspect(test.Cond, func(n ast.Node) bool {
			if e, ok := n.(*ast.SelectorExpr); ok && set[file.Text(e)] {
				found = test
			}
			return true
		})
		return true
	})
	return found
}

// closedTest returns the select around a close that does nothing else than to leave it out where the channel is closed.
func closedTest(file *source.File, s *ast.ExprStmt) *ast.SelectStmt {
	clause, ok := file.Parents[s].(*ast.CommClause)
	if !ok || clause.Comm != nil || len(clause.Body) != 1 {
		return nil
	}
	sel, ok := file.Parents[file.Parents[clause]].(*ast.SelectStmt)
	if !ok || len(sel.Body.List) != 2 {
		return nil
	}
	for _, other := range sel.Body.List {
		c := other.(*ast.CommClause)
		if c == clause {
			continue
		}
		receive, ok := c.Comm.(*ast.ExprStmt)
		if ok && len(c.Body) == 0 && file.Text(receive.X) == "<-"+file.Text(s.X.(*ast.CallExpr).Args[0]) {
			return sel
		}
	}
	return nil
}

// isInOnce reports whether an access stands in a literal that a Once runs: then a channel is made there a single time.
//
//	c.init.Do(func() { c.done = make(chan struct{}) })
func isInOnce(a *source.Access) bool {
	for f := a.Function; f != nil; f = f.Outer {
		if call, ok := a.File.Parents[f.Node].(*ast.CallExpr); ok {
			if sel, isMethod := call.Fun.(*ast.SelectorExpr); isMethod && sel.Sel.Name == "Do" {
				return true
			}
		}
	}
	return false
}
