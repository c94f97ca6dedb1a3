// Package operation finds, in the source, the operation in which a goroutine failed or waits
// for ever: the stack has its line only.
package operation

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ast/astutil"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/atomicsets/plan"
	"github.com/interlock-go/interlock/atomicsets/sites"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/stores"
)

// Operation is the failing or waiting operation in the source; Node is nil if it was not found.
type Operation struct {
	In      *sites.Package
	Node    ast.Node
	Operand ast.Expr // the channel, mutex or WaitGroup; nil for a select
}

// Column is where it begins in its line.
func (op *Operation) Column() int { return op.In.Fset.PositionFor(op.Node.Pos(), false).Column }

// Variable names the variable of the operand in the function.
func (op *Operation) Variable(function string) finding.Variable {
	switch e := ast.Unparen(op.Operand).(type) {
	case *ast.SelectorExpr:
		if sel := op.In.Info.Selections[e]; sel != nil {
			of := sel.Recv()
			if ptr, ok := of.Underlying().(*types.Pointer); ok {
				of = ptr.Elem()
			}
			if n, ok := types.Unalias(of).(*types.Named); ok && n.Obj().Pkg() != nil {
				return finding.Variable{
					Package: n.Obj().Pkg().Path(), Type: finding.TypeName(n.Obj()), Name: e.Sel.Name, Kind: plan.KindField,
				}
			}
		}
	case *ast.Ident:
		if v := op.In.Info.Uses[e]; v != nil && v.Pkg() != nil && v.Parent() == v.Pkg().Scope() {
			return finding.Variable{Package: v.Pkg().Path(), Name: e.Name, Kind: plan.KindGlobal}
		}
	}
	return finding.Variable{Package: op.In.Path, Function: op.declaring(function), Name: types.ExprString(op.Operand)}
}

// declaring returns the function that declares the local variable of the operand, which function, a literal in it, may
// capture: two literals that lock one mutex lock the same.
func (op *Operation) declaring(function string) string {
	root := op.Operand
	for {
		sel, ok := ast.Unparen(root).(*ast.SelectorExpr)
		if !ok {
			break
		}
		root = sel.X
	}
	id, ok := ast.Unparen(root).(*ast.Ident)
	if !ok || op.In.Info.Uses[id] == nil {
		return function
	}
	at := op.In.Info.Uses[id].Pos()
	for _, f := range op.In.Files {
		if id.Pos() < f.FileStart || f.FileEnd < id.Pos() {
			continue
		}
		path, _ := astutil.PathEnclosingInterval(f, id.Pos(), id.End())
		for _, n := range path {
			lit, isLit := n.(*ast.FuncLit)
			i := strings.LastIndexByte(function, '.')
			if !isLit || lit.Pos() <= at && at < lit.End() || i < 0 {
				continue
			}
			function = function[:i]
		}
	}
	return function
}

// Text is the operation in a few words, or the state of the goroutine if it was not found.
func (op *Operation) Text(state string) string {
	switch n := op.Node.(type) {
	case nil:
		return state
	case *ast.SendStmt:
		return types.ExprString(n.Chan) + " <- " + types.ExprString(n.Value)
	case *ast.RangeStmt:
		return "range " + types.ExprString(n.X)
	case ast.Expr:
		return types.ExprString(n)
	}
	return "select"
}

// OnPurpose reports whether the channel is made where it is waited for, and nothing can ever come, or
// never is, by a variable without a value or a function that returns no channel; state is that of the goroutine.
//
//	<-make(chan int)     var never chan int; <-never     <-ctx.Done() of the background
func (op *Operation) OnPurpose(state string) bool {
	isNil := strings.HasSuffix(state, "(nil chan)")
	switch e := ast.Unparen(op.Operand).(type) {
	case *ast.CallExpr:
		fun, ok := ast.Unparen(e.Fun).(*ast.Ident)
		return isNil && !isSend(op.Node) || ok && fun.Name == "make"
	case *ast.Ident:
		return isNil && !isSend(op.Node) && !op.assigned(op.In.Info.Uses[e])
	}
	return isNil && op.Node == nil
}

// AwaitsTimer reports whether the operation ends, or may end, when a timer fires or a context is done. It may if there
// is a call in its line. state is that of the goroutine. A ticker has fired by then.
func (op *Operation) AwaitsTimer(state string) bool {
	if !strings.HasPrefix(state, "chan receive") && !strings.HasPrefix(state, "select") {
		return false
	}
	found := op.Node == nil
	if op.Operand != nil {
		return op.isTimer(op.Operand)
	}
	if n, ok := op.Node.(*ast.SelectStmt); ok {
		for _, clause := range n.Body.List {
			comm := clause.(*ast.CommClause).Comm
			if comm == nil {
				continue
			}
			ast.Inspect(comm, func(n ast.Node) bool {
				if e, ok := n.(*ast.UnaryExpr); ok && e.Op == token.ARROW {
					found = found || op.isTimer(e.X)
				}
				return true
			})
		}
	}
	return found
}

// isTimer reports whether a channel is that of a timer or of a context.
func (op *Operation) isTimer(e ast.Expr) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.SelectorExpr: // t.C
		if t := op.In.Info.TypeOf(e.X); t != nil && strings.TrimPrefix(t.String(), "*") == "time.Ticker" {
			return false
		}
	case *ast.CallExpr:
		sel, ok := e.Fun.(*ast.SelectorExpr)
		if !ok {
			break
		}
		switch f, _ := op.In.Info.Uses[sel.Sel].(*types.Func); {
		case f == nil || f.Pkg() == nil:
		case f.Pkg().Path() == "context" && f.Name() == "Done":
			return true
		case f.Pkg().Path() == "time" && f.Name() == "Tick":
			return false
		}
	}
	t := op.In.Info.TypeOf(e)
	if t == nil {
		return false
	}
	c, ok := t.Underlying().(*types.Chan)
	return ok && c.Elem().String() == "time.Time"
}

func isSend(n ast.Node) bool {
	_, ok := n.(*ast.SendStmt)
	return ok
}

// assigned reports whether the package stores to a variable, or passes its address on, or has it as a parameter: that
// it is nil is no purpose then.
func (op *Operation) assigned(v types.Object) (found bool) {
	is := func(e ast.Expr) bool {
		id, ok := ast.Unparen(e).(*ast.Ident)
		return ok && op.In.Info.ObjectOf(id) == v
	}
	for _, f := range op.In.Files {
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.AssignStmt:
				found = found || slices.ContainsFunc(n.Lhs, is)
			case *ast.ValueSpec:
				found = found || len(n.Values) > 0 && slices.ContainsFunc(n.Names, func(id *ast.Ident) bool { return is(id) })
			case *ast.UnaryExpr:
				found = found || n.Op == token.AND && is(n.X)
			case *ast.Field:
				found = found || slices.ContainsFunc(n.Names, func(id *ast.Ident) bool { return is(id) })
			}
			return !found
		})
	}
	return found
}

// Waiting finds the operation on the line of a that can wait in its mode.
func Waiting(pkgs []*sites.Package, a *finding.Access) (found Operation) {
	for _, p := range pkgs {
		for _, f := range p.Files {
			if !stores.IsFile(p, f, a.File) {
				continue
			}
			ast.Inspect(f, func(n ast.Node) bool {
				if operand, ok := waitsIn(n, a.Mode); ok && p.Fset.PositionFor(n.Pos(), false).Line == a.Line {
					found = Operation{p, n, operand}
				}
				return true
			})
		}
	}
	return found
}

// waitsIn reports whether a node is an operation that can wait in that mode, and returns its operand.
func waitsIn(n ast.Node, mode finding.Mode) (operand ast.Expr, ok bool) {
	switch n := n.(type) {
	case *ast.SendStmt:
		return n.Chan, mode == finding.Send
	case *ast.UnaryExpr:
		return n.X, mode == finding.Receive && n.Op == token.ARROW
	case *ast.RangeStmt:
		return n.X, mode == finding.Receive
	case *ast.SelectStmt:
		return nil, mode == finding.Wait
	case *ast.CallExpr:
		sel, isMethod := n.Fun.(*ast.SelectorExpr)
		if !isMethod {
			return nil, false
		}
		switch sel.Sel.Name {
		case "Lock":
			return sel.X, mode == finding.Lock
		case "RLock":
			return sel.X, mode == finding.ReadLock
		case "Wait":
			return sel.X, mode == finding.Wait
		}
	}
	return nil, false
}

// Failing finds the failing operation: a send or close by the mode of a, or else a call of one
// of the methods. It stands on the line of a; a deferred call, for which the stack has no line,
// must be the only one of its function. The operand is the node too.
func Failing(pkgs []*sites.Package, a *finding.Access, methods []string) (found Operation) {
	for _, p := range pkgs {
		for _, f := range p.Files {
			if !stores.IsFile(p, f, a.File) {
				continue
			}
			var deferred []ast.Expr
			ast.Inspect(f, func(n ast.Node) bool {
				if fn, ok := n.(*ast.FuncDecl); ok {
					first, last := p.Fset.PositionFor(fn.Pos(), false).Line, p.Fset.PositionFor(fn.End(), false).Line
					return first <= a.Line && a.Line <= last
				}
				if d, ok := n.(*ast.DeferStmt); ok {
					if e := mayFail(d.Call, a.Mode, methods); e != nil {
						deferred = append(deferred, e)
					}
				}
				if e := mayFail(n, a.Mode, methods); e != nil && p.Fset.PositionFor(e.Pos(), false).Line == a.Line {
					found = Operation{p, e, e}
				}
				return true
			})
			if found.Node == nil && len(deferred) == 1 {
				found = Operation{p, deferred[0], deferred[0]}
			}
		}
	}
	return found
}

// mayFail returns the operand of a node that may fail in the mode, or as one of the methods;
// nil for any other node.
func mayFail(n ast.Node, mode finding.Mode, methods []string) ast.Expr {
	switch n := n.(type) {
	case *ast.SendStmt:
		if mode == finding.Send {
			return n.Chan
		}
	case *ast.CallExpr:
		switch fun := n.Fun.(type) {
		case *ast.Ident:
			if mode == finding.CloseChan && fun.Name == "close" && len(n.Args) == 1 {
				return n.Args[0]
			}
		case *ast.SelectorExpr:
			if slices.Contains(methods, fun.Sel.Name) {
				return fun.X
			}
		}
	}
	return nil
}
