package syncfix

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"

	"github.com/interlock-go/interlock/patchgen/internal/source"
	"github.com/interlock-go/interlock/patchgen/internal/strategy"
)

// heldChannel is a channel in a field or a package variable, with all operations of the module on it, tests apart.
type heldChannel struct {
	variable *source.Variable
	makes    []made
	sends    []sending
	receives []receiving
	closes   []*source.Access
	ranges   []*source.Access
	passed   []*source.Access // handed on, where its operations have other names
}

// made is where the channel is made, and set to the variable.
type made struct {
	*source.Access
	call *ast.CallExpr
}

// receiving is a receive, with the statement that it is or, as a case, belongs to.
type receiving struct {
	*source.Access
	op     *ast.UnaryExpr
	clause *ast.CommClause // nil where it is no case of a select
}

// held returns the channel of an expression with its operations.
func (p *Problem) held(file *source.File, e ast.Expr) (*heldChannel, error) {
	e, obj := file.VariableOf(ast.Unparen(e))
	if obj == nil || !obj.IsField() && !source.IsGlobal(obj) {
		return nil, strategy.NotMeant("the channel is no field and no package variable")
	}
	if _, isChannel := obj.Type().Underlying().(*types.Chan); !isChannel {
		return nil, strategy.NotMeant("%s: %s is no channel", file.At(e), file.Text(e))
	}
	return p.operationsOn(p.Module.NewVariable(obj, file, e)), nil
}

// operationsOn lists the operations of the module on the channel that a variable holds.
func (p *Problem) operationsOn(v *source.Variable) *heldChannel {
	c := &heldChannel{variable: v}
	for _, a := range p.Module.Accesses(v) {
		if !a.File.Test {
			c.add(a)
		}
	}
	return c
}

// add notes what an access does with the channel.
func (c *heldChannel) add(a *source.Access) {
	switch n := a.File.Parents[a.Expr].(type) {
	case *ast.SendStmt:
		if n.Chan == a.Expr {
			c.sends = append(c.sends, sendingOf(a, n))
			return
		}
	case *ast.UnaryExpr:
		if n.Op == token.ARROW {
			c.receives = append(c.receives, receiving{a, n, caseOf(a.File, n)})
			return
		}
	case *ast.RangeStmt:
		if n.X == a.Expr {
			c.ranges = append(c.ranges, a)
			return
		}
	// len, cap, close
	case *ast.CallExpr:
		if source.IsBuiltin(a.File, n, "close") {
			c.closes = append(c.closes, a)
			return
		}
		if source.IsBuiltin(a.File, n, "len", "cap") {
			return
		}
	case *ast.BinaryExpr: // x.ch != nil
		return
	}
	c.set(a)
}

// set notes what an access sets the channel to: one that is made, nil, or one that comes from elsewhere; all else hands
// it on.
func (c *heldChannel) set(a *source.Access) {
	switch value := ast.Unparen(setTo(a)).(type) {
	case *ast.CallExpr:
		if source.IsBuiltin(a.File, value, "make") {
			c.makes = append(c.makes, made{a, value})
			return
		}
	case *ast.Ident:
		if value.Name == "nil" {
			return
		}
	}
	c.passed = append(c.passed, a)
}

// setTo returns what an access sets the variable to; nil where it sets nothing.
func setTo(a *source.Access) ast.Expr {
	switch n := a.File.Parents[a.Expr].(type) {
	case *ast.AssignStmt:
		for i, left := range n.Lhs {
			if left == a.Expr && len(n.Lhs) == len(n.Rhs) {
				return n.Rhs[i]
			}
		}
	case *ast.KeyValueExpr:
		if n.Key == a.Expr {
			return n.Value
		}
	}
	return nil
}

// caseOf returns the case of a select that a receive is; nil where it is none.
func caseOf(file *source.File, receive *ast.UnaryExpr) *ast.CommClause {
	for n := file.Parents[receive]; n != nil; n = file.Parents[n] {
		switch n := n.(type) {
		case *ast.CommClause:
			if n.Comm != nil && receive.End() <= n.Comm.End() {
				return n
			}
			return nil
		case *ast.BlockStmt, *ast.FuncLit:
			return nil
		}
	}
	return nil
}

// isKnown returns an error where not all operations on the channel are known, or it is nowhere made.
func (c *heldChannel) isKnown() error {
	for _, a := range c.passed {
		return fmt.Errorf("%s: the channel %s is handed on, so that not all of its operations are known",
			a.File.At(a.Expr), c.variable)
	}
	if len(c.makes) == 0 {
		return fmt.Errorf("%s is made nowhere in the module", c.variable)
	}
	return nil
}

// isUnbuffered reports whether a channel is made without room.
func (m made) isUnbuffered() bool {
	if len(m.call.Args) == 1 {
		return true
	}
	size := m.File.Package.Info.Types[m.call.Args[1]].Value
	return size != nil && size.String() == "0"
}

// selectOf returns the select of a case.
func selectOf(file *source.File, clause *ast.CommClause) *ast.SelectStmt {
	return file.Parents[file.Parents[clause]].(*ast.SelectStmt)
}
