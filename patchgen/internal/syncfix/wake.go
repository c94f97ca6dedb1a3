package syncfix

import (
	"fmt"
	"go/ast"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/patchgen/internal/edit"
	"github.com/interlock-go/interlock/patchgen/internal/source"
	"github.com/interlock-go/interlock/patchgen/internal/strategy"
	"github.com/interlock-go/interlock/patchgen/internal/validate"
)

// signOff has a goroutine sign off at a WaitGroup however it ends:
//
//	go func() {
//		defer wg.Done()	<- from the end of the function
//		if !check(p) {
//			return
//		}
//	}()
//
// It applies where the Done is the last statement of its function, which has no other. Obligation:
// [validate.SignsOff].
func signOff(p *Problem) (*strategy.Patch, error) {
	wait, err := p.blockedMethod("Wait", "sync.WaitGroup")
	if err != nil {
		return nil, err
	}
	edits := edit.New()
	var reasons error
	moved := 0
	for _, c := range p.callsOn(wait, "Done") {
		f := c.file.FunctionOf(c.call)
		s, isStmt := c.file.Parents[c.call].(*ast.ExprStmt)
		if !isStmt || f == nil {
			continue // deferred already
		}
		list := f.Body.List
		switch {
		case list[len(list)-1] != ast.Stmt(s):
			reasons = fmt.Errorf("%s: the Done is not the last statement of its function", c.file.At(s))
			continue
		case len(p.callsIn(f, wait, "Done")) > 1:
			reasons = fmt.Errorf("%s: the function signs off in several places", c.file.At(s))
			continue
		}
		text := c.file.Text(s)
		edits.DeleteLine(c.file, s)
		edits.Before(c.file, list[0], func() string { return "defer " + text })
		moved++
	}
	if moved == 0 {
		if reasons == nil {
			reasons = fmt.Errorf("each Done of %s is deferred already", wait.text)
		}
		return nil, reasons
	}
	files, err := edits.Files()
	return &strategy.Patch{Files: files, Claim: validate.Claim{Kind: validate.SignsOff}}, err
}

// broadcast wakes all who wait for a condition where only one was woken:
//
//	c.cond.Signal()	->	c.cond.Broadcast()
//
// It applies where everybody tests the condition again in a loop. Obligation: [validate.WakesAll].
func broadcast(p *Problem) (*strategy.Patch, error) {
	wait, err := p.blockedMethod("Wait", "sync.Cond")
	if err != nil {
		return nil, err
	}
	for _, c := range p.callsOn(wait, "Wait") {
		inLoop := false
		for n := c.file.Parents[c.call]; n != nil && c.file.Module.FunctionAt(n) == nil; n = c.file.Parents[n] {
			_, isLoop := n.(*ast.ForStmt)
			inLoop = inLoop || isLoop
		}
		if !inLoop {
			return nil, fmt.Errorf("%s: the waiter does not test its condition again", c.file.At(c.call))
		}
	}
	edits := edit.New()
	signals := p.callsOn(wait, "Signal")
	if len(signals) == 0 {
		return nil, fmt.Errorf("nothing signals %s", wait.text)
	}
	for _, c := range signals {
		edits.Replace(c.file, ast.Unparen(c.call.Fun).(*ast.SelectorExpr).Sel, "Broadcast")
	}
	files, err := edits.Files()
	return &strategy.Patch{Files: files, Claim: validate.Claim{Kind: validate.WakesAll}}, err
}

// waitedFor is the object whose method a goroutine is blocked in.
type waitedFor struct {
	text string
	key  string // see source.ObjectKey
}

// methodCall is a call of one of its methods.
type methodCall struct {
	file *source.File
	call *ast.CallExpr
}

// blockedMethod returns the object whose method of a name the findings' goroutines are blocked in.
func (p *Problem) blockedMethod(name, typ string) (waitedFor, error) {
	for _, f := range p.Findings {
		for _, a := range f.Accesses {
			if a.Mode == finding.Send || a.Mode == finding.Receive {
				continue
			}
			at, err := p.at(a.Position)
			if err != nil {
				return waitedFor{}, err
			}
			call, ok := innermost[*ast.CallExpr](at)
			if !ok {
				continue
			}
			if of, ok := methodOn(at.file, call, name); ok && isType(at.file, call, typ) {
				return of, nil
			}
		}
	}
	return waitedFor{}, strategy.NotMeant("no goroutine is blocked in the Wait of a %s", typ)
}

// isType reports whether the receiver of a method call is of a type, or a pointer to it.
func isType(file *source.File, call *ast.CallExpr, typ string) bool {
	sel := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	named := source.Named(file.TypeOf(sel.X))
	return named != nil && source.OwnerName(named) == typ
}

// methodOn returns the object of a call of a method of the name: x.f of x.f.Wait().
func methodOn(file *source.File, call *ast.CallExpr, name string) (of waitedFor, ok bool) {
	sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok || sel.Sel.Name != name {
		return of, false
	}
	_, obj := file.VariableOf(ast.Unparen(sel.X))
	if obj == nil {
		return of, false
	}
	return waitedFor{file.Text(sel.X), source.ObjectKey(file.Module, obj)}, true
}

// callsOn lists the calls of a method of an object in the module.
func (p *Problem) callsOn(of waitedFor, name string) (list []methodCall) {
	for _, pkg := range p.Module.Packages {
		for _, file := range pkg.Files {
			ast.Inspect(file.Syntax, func(n ast.Node) bool {
				if call, ok := n.(*ast.CallExpr); ok {
					if on, ok := methodOn(file, call, name); ok && on.key == of.key {
						list = append(list, methodCall{file, call})
					}
				}
				return true
			})
		}
	}
	return list
}

// callsIn lists those within one function, literals in it included.
func (p *Problem) callsIn(f *source.Function, of waitedFor, name string) (list []methodCall) {
	for _, c := range p.callsOn(of, name) {
		if c.file == f.File && f.Node.Pos() <= c.call.Pos() && c.call.End() <= f.Node.End() {
			list = append(list, c)
		}
	}
	return list
}
