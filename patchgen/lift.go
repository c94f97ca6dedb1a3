package patchgen

import (
	"fmt"
	"go/ast"
	"go/token"
)

// lift moves a Lock of the function's own, with a deferred Unlock behind it,
// up to the first read that decides about what they protect, if all between
// can be held.
func (c *cover) lift() error {
	list := c.f.body.List
	for j, s := range list {
		acquire := c.acquires(s)
		if acquire == nil {
			continue
		}
		i := c.liftTo(list[:j], s.Pos())
		if i < 0 {
			continue
		}
		between := list[i:j]
		if acquire.read && anyWrites(c.in(nodes(between)...)) {
			return fmt.Errorf("%s: only the read lock is taken behind it", c.u.at(list[i]))
		}
		return c.liftOver(between, list[j:], acquire)
	}
	return nil
}

// liftOver moves the Lock that behind starts with before the statements.
func (c *cover) liftOver(between, behind []ast.Stmt, acquire *lockOp) error {
	text := c.u.text(behind[0])
	c.es.deleteLine(c.u, behind[0])
	if len(behind) > 1 && c.defersUnlock(behind[1]) {
		text += "\n" + c.u.text(behind[1])
		c.es.deleteLine(c.u, behind[1])
	} else {
		r := &region{c: c, only: "Lock"}
		if acquire.read {
			r.only = "RLock"
		}
		for _, s := range between {
			if err := c.exits(s, r); err != nil {
				return err
			}
		}
	}
	c.es.before(c.u, between[0], func() string { return text })
	for _, a := range c.in(nodes(between)...) {
		delete(c.acc, a.expr)
	}
	return nil
}

// liftTo is the first statement of the list with an access that decides
// about one behind the end; -1 if there is none, or the lock cannot be held
// from there.
func (c *cover) liftTo(list []ast.Stmt, end token.Pos) int {
	first := -1
	for i, s := range list {
		for _, a := range c.in(s) {
			for _, b := range c.under {
				if first < 0 && b.expr.Pos() > end && c.decides(a, b) && !c.testedAgain(a, b) {
					first = i
				}
			}
		}
		if first >= 0 && (c.blocks(s) != "" || holdsDefer(s) || c.derefs(c.in(s), s) != nil) {
			return -1
		}
	}
	return first
}

func nodes(list []ast.Stmt) (out []ast.Node) {
	for _, s := range list {
		out = append(out, s)
	}
	return out
}

func (c *cover) acquires(s ast.Stmt) *lockOp {
	es, ok := s.(*ast.ExprStmt)
	if !ok {
		return nil
	}
	if call, ok := es.X.(*ast.CallExpr); ok {
		if op, ok := c.u.lockOp(call); ok && op.acquire && !op.try && op.place.key == c.key && c.u.text(op.lock) == c.lock {
			return &op
		}
	}
	return nil
}

func (c *cover) defersUnlock(s ast.Stmt) bool {
	d, ok := s.(*ast.DeferStmt)
	if !ok {
		return false
	}
	op, ok := c.u.lockOp(d.Call)
	return ok && !op.acquire && op.place.key == c.key
}
