package syncfix

import (
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/patchgen/internal/source"
	"github.com/interlock-go/interlock/patchgen/internal/strategy"
	"github.com/interlock-go/interlock/patchgen/internal/validate"
)

// channel is a local channel that never leaves the function that makes it,
// with all of its operations.
type channel struct {
	file     *source.File
	function *source.Function // makes it
	object   *types.Var
	made     ast.Stmt // ch := make(chan T), var ch = make(chan T)
	making   *ast.CallExpr
	sends    []*ast.SendStmt
	receives []ast.Node // <-ch, for range ch
	closes   []*ast.CallExpr
}

// blockedOn returns the channel that the findings' goroutines are blocked on, in the given mode: that of the first
// access. Others may be on other channels, which stand in its way; but findings know a local channel by its name
// alone, and two of one name in one function are refused.
func (p *Problem) blockedOn(mode finding.Mode) (c *channel, err error) {
	for _, f := range p.Findings {
		for _, a := range f.Accesses {
			if a.Mode != mode {
				continue
			}
			at, err := p.at(a.Position)
			if err != nil {
				return nil, err
			}
			here, err := p.channelAt(at, mode)
			switch {
			case c == nil && err != nil:
				return nil, err
			case c == nil:
				c = here
			case err == nil && here.object != c.object && here.object.Name() == c.object.Name():
				return nil, fmt.Errorf("%s: two channels are called %s", a.Position, c.object.Name())
			}
		}
	}
	if c == nil {
		return nil, strategy.NotMeant("no goroutine is blocked at a %s", mode)
	}
	return c, nil
}

// channelAt finds the channel of the operation at a place.
func (p *Problem) channelAt(at place, mode finding.Mode) (*channel, error) {
	// ch <- v, <-ch, for range ch
	var e ast.Expr
	for _, n := range at.path {
		switch n := n.(type) {
		case *ast.SendStmt:
			e = n.Chan
		case *ast.UnaryExpr:
			if n.Op == token.ARROW {
				e = n.X
			}
		case *ast.RangeStmt:
			e = n.X
		}
		if e != nil {
			break
		}
	}
	if e == nil {
		return nil, fmt.Errorf("%s: no %s stands there", at.file.At(at.path[0]), mode)
	}
	id, ok := ast.Unparen(e).(*ast.Ident)
	if !ok {
		return nil, fmt.Errorf("%s: the channel %s is not a local variable, so that not all of its operations are known",
			at.file.At(e), at.file.Text(e))
	}
	obj, ok := at.file.Package.Info.ObjectOf(id).(*types.Var)
	if !ok || source.IsGlobal(obj) {
		return nil, fmt.Errorf("%s: the channel %s is not a local variable, so that not all of its operations are known",
			at.file.At(e), id.Name)
	}
	c := &channel{file: at.file, object: obj, function: p.Module.Declaring(at.file, obj)}
	return c, c.collect()
}

// collect finds all uses of the channel, and refuses where one hands it on.
func (c *channel) collect() error {
	if c.function == nil {
		return errors.New("the channel is declared in no function")
	}
	var err error
	ast.Inspect(c.function.Node, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if ok && c.file.Package.Info.ObjectOf(id) == types.Object(c.object) && err == nil {
			err = c.use(id)
		}
		return err == nil
	})
	if err == nil && c.making == nil {
		err = fmt.Errorf("%s is not made where it is declared", c.object.Name())
	}
	return err
}

// use records one use of the channel.
func (c *channel) use(id *ast.Ident) error {
	switch n := c.file.Parents[id].(type) {
	// ch := make(chan T)
	case *ast.AssignStmt:
		i := slices.Index(n.Lhs, ast.Expr(id))
		if i >= 0 && n.Tok == token.DEFINE && c.isMade(n, i, n.Rhs) {
			return nil
		}
		switch {
		case i >= 0 && n.Tok == token.DEFINE:
			return fmt.Errorf("%s: the channel %s comes from elsewhere, so that not all of its operations are known",
				c.file.At(id), id.Name)
		case i >= 0:
			return fmt.Errorf("%s: the channel %s is set, and may be another one then", c.file.At(id), id.Name)
		}
	// var ch = make(chan T)
	case *ast.ValueSpec:
		if i := slices.Index(n.Names, id); i >= 0 && (len(n.Values) == 0 || c.isMade(c.file.StmtOf(n), i, n.Values)) {
			return nil
		}
	case *ast.SendStmt:
		if n.Chan == id {
			c.sends = append(c.sends, n)
			return nil
		}
	case *ast.UnaryExpr:
		if n.Op == token.ARROW {
			c.receives = append(c.receives, n)
			return nil
		}
	case *ast.RangeStmt:
		if n.X == id {
			c.receives = append(c.receives, n)
			return nil
		}
	case *ast.CallExpr:
		if source.IsBuiltin(c.file, n, "close") {
			c.closes = append(c.closes, n)
			return nil
		}
	}
	return fmt.Errorf("%s: the channel %s is handed on, so that not all of its operations are known", c.file.At(id),
		id.Name)
}

// isMade records that a statement makes the channel, if the i-th value, which it gets, is a call of make.
func (c *channel) isMade(s ast.Stmt, i int, values []ast.Expr) bool {
	if i >= len(values) {
		return false // v, ok := f()
	}
	call, ok := ast.Unparen(values[i]).(*ast.CallExpr)
	if !ok || !source.IsBuiltin(c.file, call, "make") {
		return false
	}
	c.made, c.making = s, call
	return true
}

// claim is what a patch of the channel promises.
func (c *channel) claim() validate.Claim {
	return validate.Claim{Kind: validate.Unblocked, Variable: c.variable()}
}

func (c *channel) variable() validate.Variable {
	v := c.file.Module.NewVariable(c.object, c.file, nil)
	out := validate.Variable{Package: c.file.Package.Path, Name: v.Name}
	out.Func, out.Nth = v.Place()
	return out
}

// isUnbuffered reports whether the channel is made without room.
func (c *channel) isUnbuffered() bool {
	if len(c.making.Args) == 1 {
		return true
	}
	tv := c.file.Package.Info.Types[c.making.Args[1]]
	return tv.Value != nil && tv.Value.String() == "0"
}

// isStarted reports whether f is a literal that a go statement runs on the spot, and whether that is
// once for each channel that is made: no loop around the statement leaves out the make.
func (c *channel) isStarted(f *source.Function) (once, ok bool) {
	if f == nil || f == c.function {
		return false, false
	}
	call, isCall := c.file.Parents[f.Node].(*ast.CallExpr)
	if !isCall || call.Fun != f.Node {
		return false, false
	}
	start, isGo := c.file.Parents[call].(*ast.GoStmt)
	return isGo && !c.inLoop(start, c.function), isGo && f.Outer == c.function
}

// inLoop reports whether a loop within f holds n, but not the make of the channel.
func (c *channel) inLoop(n ast.Node, f *source.Function) bool {
	for x := c.file.Parents[n]; x != nil && x != f.Node; x = c.file.Parents[x] {
		switch x.(type) {
		case *ast.ForStmt, *ast.RangeStmt:
			if !(x.Pos() <= c.made.Pos() && c.made.Pos() < x.End()) {
				return true
			}
		}
	}
	return false
}
