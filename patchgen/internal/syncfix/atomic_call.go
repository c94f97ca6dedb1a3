package syncfix

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"strings"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/syncapi"
	"github.com/interlock-go/interlock/patchgen/internal/source"
	"github.com/interlock-go/interlock/patchgen/internal/strategy"
)

// atomicCall is a Load or Store of sync/atomic, as a method or as a function.
type atomicCall struct {
	file   *source.File // with at
	call   *ast.CallExpr
	target ast.Expr
	suffix string // of a function: Int32
	args   []ast.Expr
	// at is the call, or that of a one-line function which makes it.
	at  ast.Expr
	via *accessor // nil if there is no such function
}

// atomicHalf returns the operation of a kind that a function makes itself, or by a call of a one-line function.
func (p *Problem) atomicHalf(access finding.Position, call *finding.Position, kind string) (*atomicCall, error) {
	a, err := p.atomicAt(access, kind)
	if err != nil || call == nil {
		return a, err
	}
	at, err := p.at(*call)
	if err != nil {
		return nil, err
	}
	expr, ok := innermost[*ast.CallExpr](at)
	if !ok {
		return nil, fmt.Errorf("%s: no call stands there", call)
	}
	via, err := accessorOf(at.file, expr)
	if err != nil {
		return nil, err
	}
	// return x.Load(), return x.Load() == v, or x.Store(v) and nothing else
	isGetter := via.ret != nil && len(via.ret.Results) == 1 && len(via.body) == 0
	isSetter := via.ret == nil && len(via.body) == 1 && isCallOf(via.body[0], a.call)
	if via.lock != nil || a.file.FunctionOf(a.call) != via.callee || !isGetter && !isSetter {
		return nil, fmt.Errorf("%s: %s does more than one atomic step", call, via.callee.Name())
	}
	a.file, a.at, a.via = at.file, expr, via
	return a, nil
}

// isCallOf reports whether a statement is a call and nothing else.
func isCallOf(stmt ast.Stmt, call *ast.CallExpr) bool {
	es, ok := stmt.(*ast.ExprStmt)
	return ok && es.X == ast.Expr(call)
}

// text writes a part of the operation in the words of the function with at.
func (a *atomicCall) text(part ast.Node) (string, error) {
	if a.via != nil {
		return a.via.spell(part)
	}
	return a.file.Text(part), nil
}

// as writes another operation on the same variable.
func (a *atomicCall) as(kind string, args ...string) (string, error) {
	fun := a.call.Fun.(*ast.SelectorExpr)
	if a.suffix != "" {
		target, err := a.text(a.args[0])
		if err != nil {
			return "", err
		}
		args = append([]string{target}, args...)
	}
	x, err := a.text(fun.X)
	return x + "." + kind + a.suffix + "(" + strings.Join(args, ", ") + ")", err
}

// around writes the result of a one-line function, with a text in place of the operation.
func (a *atomicCall) around(result ast.Expr, text string) (string, error) {
	all, err := a.text(result)
	own, ownErr := a.text(a.call)
	return strings.Replace(all, own, text, 1), cmp.Or(err, ownErr)
}

// operand returns the stored value, nil if it is no constant, and its text.
func (a *atomicCall) operand() (constant.Value, string, error) {
	arg := a.args[len(a.args)-1]
	text, err := a.text(arg)
	if a.via == nil {
		return a.file.Package.Info.Types[arg].Value, text, err
	}
	info := a.via.callee.File.Package.Info
	if id, ok := ast.Unparen(arg).(*ast.Ident); ok && a.via.words[info.ObjectOf(id)] != nil {
		return a.file.Package.Info.Types[a.via.words[info.ObjectOf(id)]].Value, text, err
	}
	return info.Types[arg].Value, text, err
}

// outcome returns the value that the variable has, or has not, where a test is true.
func (a *atomicCall) outcome(cond ast.Expr) (outcome, bool) {
	if a.via == nil {
		return outcomeOf(a.file, cond, a.call)
	}
	result := ast.Unparen(a.via.ret.Results[0])
	if result == ast.Expr(a.call) {
		return outcomeOf(a.file, cond, a.at.(*ast.CallExpr))
	}
	inner, ok := outcomeOf(a.via.callee.File, result, a.call)
	outer, known := outcomeOf(a.file, cond, a.at.(*ast.CallExpr))
	if !ok || !known || !outer.isBool {
		return outcome{}, false
	}
	if constant.BoolVal(outer.value) == outer.equal {
		return inner, true
	}
	// !s.isClosed()
	if inner.isBool {
		inner.value, inner.text = constant.MakeBool(!constant.BoolVal(inner.value)), fmt.Sprint(inner.text != "true")
		return inner, true
	}
	inner.equal = !inner.equal
	return inner, true
}

// atomicAt returns the operation of a kind at a position.
func (p *Problem) atomicAt(pos finding.Position, kind string) (*atomicCall, error) {
	at, err := p.at(pos)
	if err != nil {
		return nil, err
	}
	for _, n := range at.path {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			continue
		}
		fun, ok := call.Fun.(*ast.SelectorExpr)
		if !ok {
			continue
		}
		fn, ok := at.file.Package.Info.Uses[fun.Sel].(*types.Func)
		if !ok || syncapi.Atomic(fn) != kind {
			continue
		}
		a := &atomicCall{file: at.file, call: call, at: call, target: fun.X, args: call.Args}
		if fn.Signature().Recv() == nil {
			a.target, a.suffix = call.Args[0], strings.TrimPrefix(fn.Name(), kind)
		}
		return a, nil
	}
	return nil, strategy.NotMeant("%s: no atomic %s stands there", pos, kind)
}

// outcome is what the variable holds, or does not hold, where a test is true.
type outcome struct {
	value  constant.Value
	text   string
	equal  bool
	isBool bool
}

// outcomeOf reads x.Load(), !x.Load(), x.Load() == v and x.Load() != v.
func outcomeOf(file *source.File, cond ast.Expr, load *ast.CallExpr) (outcome, bool) {
	cond = ast.Unparen(cond)
	switch c := cond.(type) {
	case *ast.CallExpr:
		return outcome{constant.MakeBool(true), "true", true, true}, c == load
	case *ast.UnaryExpr:
		return outcome{constant.MakeBool(false), "false", true, true}, c.Op == token.NOT && ast.Unparen(c.X) == load
	case *ast.BinaryExpr:
		v := c.Y
		if c.X != ast.Expr(load) {
			v = c.X
		}
		value := file.Package.Info.Types[v].Value
		compares := c.Op == token.EQL || c.Op == token.NEQ
		return outcome{value, file.Text(v), c.Op == token.EQL, false},
			compares && value != nil && (c.X == ast.Expr(load) || c.Y == ast.Expr(load))
	}
	return outcome{}, false
}
