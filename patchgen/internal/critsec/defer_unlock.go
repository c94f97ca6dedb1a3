package critsec

import (
	"go/ast"

	"github.com/interlock-go/interlock/patchgen/internal/source"
)

// deferUnlock covers the rest of a function, entered at its top level, with
// Lock and a deferred Unlock: where it returns the variable itself, holds no
// other defer and does nothing that may block.
func (c *builder) deferUnlock(tail []ast.Stmt) bool {
	if len(tail) > 2*maxGap || !c.has(tail[len(tail)-1]) {
		return false
	}
	returns := false
	for _, s := range tail {
		ast.Inspect(s, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncLit:
				return false
			case *ast.ReturnStmt:
				returns = returns || c.has(n)
			}
			return true
		})
	}
	return returns && c.holdTail(tail)
}

// holdTail covers the rest of a function with Lock and a deferred Unlock, if
// it can be held there.
func (c *builder) holdTail(tail []ast.Stmt) bool {
	uses := false
	var accs []*source.Access
	for _, s := range tail {
		accs = append(accs, c.In(s)...)
		uses = uses || c.UsesObject(s)
		if c.blocks(s) != "" || c.checkNil(c.In(s), s) != nil || holdsDefer(s) {
			return false
		}
	}
	r := c.open(nil, 0, nil)
	if c.record(r, accs) != nil {
		c.regions = c.regions[:len(c.regions)-1]
		return false
	}
	r.write = r.write || uses
	c.before(tail[0], func() string { return r.lockText() + "\ndefer " + r.unlockText() })
	return true
}

func holdsDefer(s ast.Stmt) (found bool) {
	ast.Inspect(s, func(n ast.Node) bool {
		switch n.(type) {
		case *ast.FuncLit, *ast.DeferStmt, *ast.GoStmt:
			found = true
		}
		return true
	})
	return found
}
