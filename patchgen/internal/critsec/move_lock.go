package critsec

import (
	"fmt"
	"go/ast"
	"go/token"
	"slices"

	"github.com/interlock-go/interlock/patchgen/internal/source"
)

// moveLock moves a Lock of the function's own, with a deferred Unlock behind it,
// up to the first read that decides about what they protect, if all between
// can be held, or up over the accesses right before it.
func (c *builder) moveLock() error {
	list := c.Function.Body.List
	for j, s := range list {
		acquire := c.acquires(s)
		if acquire == nil {
			continue
		}
		i := c.moveTarget(list[:j], s.Pos())
		if i < 0 {
			i = c.adjacent(list[:j], acquire)
		}
		if i < 0 {
			continue
		}
		between := list[i:j]
		if acquire.Read && anyWrites(c.In(nodes(between)...)) {
			return fmt.Errorf("%s: only the read lock is taken behind it", c.File.At(list[i]))
		}
		return c.moveLockOver(between, list[j:], acquire)
	}
	return nil
}

// moveLockOver moves the Lock that behind starts with before the statements.
func (c *builder) moveLockOver(between, behind []ast.Stmt, acquire *source.LockOp) error {
	text := c.File.Text(behind[0])
	c.edits.DeleteLine(c.File, behind[0])
	if len(behind) > 1 && c.defersUnlock(behind[1]) {
		text += "\n" + c.File.Text(behind[1])
		c.edits.DeleteLine(c.File, behind[1])
	} else {
		r := &region{builder: c, continued: "Lock"}
		if acquire.Read {
			r.continued = "RLock"
		}
		for _, s := range between {
			if err := c.unlockExits(s, r); err != nil {
				return err
			}
		}
	}
	c.edits.Before(c.File, between[0], func() string { return text })
	for _, a := range c.In(nodes(between)...) {
		delete(c.Accesses, a.Expr)
	}
	return nil
}

// moveTarget is the first statement of the list with an access that decides
// about one behind the end; -1 if there is none, or the lock cannot be held
// from there. What is tested again behind the Lock needs no move, but right
// before it a section of its own would be released only to be acquired again:
//
//	if v, ok := c.m[k]; ok { return v }
//	c.mu.Lock()
//	if v, ok := c.m[k]; ok { return v }
//
// A read lock is worth that.
func (c *builder) moveTarget(list []ast.Stmt, end token.Pos) int {
	first := -1
	for i, s := range list {
		for _, a := range c.In(s) {
			for _, b := range c.AlreadyHeld {
				again := c.testedAgain(a, b) && (c.HasRLock || i < len(list)-1)
				if first < 0 && b.Expr.Pos() > end && c.Facts.Decides(a, b) && !again {
					first = i
				}
			}
		}
		if first >= 0 && (c.blocks(s) != "" || holdsDefer(s) || c.checkNil(c.In(s), s) != nil) {
			return -1
		}
	}
	return first
}

// adjacent is the first of the statements at the end of the list that access the variable and may be held, right
// before a Lock; -1 if the last one is none. A section of their own would be released only to be acquired again:
//
//	all := make([]string, 0, len(c.m))
//	c.mu.RLock()
//	for k := range c.m {
func (c *builder) adjacent(list []ast.Stmt, acquire *source.LockOp) int {
	first := -1
	for i, s := range slices.Backward(list) {
		switch s.(type) {
		case *ast.AssignStmt, *ast.DeclStmt, *ast.ExprStmt, *ast.IncDecStmt:
		default:
			return first
		}
		accs := c.In(s)
		if len(accs) == 0 || acquire.Read && anyWrites(accs) || c.blocks(s) != "" || c.checkNil(accs, s) != nil ||
			c.acquires(s) != nil || c.unlocks(s) != nil {
			return first
		}
		first = i
	}
	return first
}

func nodes(list []ast.Stmt) (out []ast.Node) {
	for _, s := range list {
		out = append(out, s)
	}
	return out
}
