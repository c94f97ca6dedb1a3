package patchgen

import (
	"fmt"
	"go/ast"
)

// A patch must not turn a race into a check-then-act: where a read decides
// about a later access of state under the same lock, both go into one region,
// whether the later access is of the same variable or of another that the
// lock guards. The one split that is left, with a note, is that of a read and
// a later access of the same variable with something between them that cannot
// be held: the author had it between them too, so nobody could rely on the two
// being one step, and holding the lock across it could block for ever. For two
// variables that is no excuse: without the lock a reader of the code saw a
// race, with two regions he would see locking, and values that do not belong
// together.

// together runs the cover so that what belongs together lies in one region:
// as small regions if they do, else as one region to the end of the function.
// What stays apart all the same is an error or, for one variable, a note.
func (c *cover) together() (notes []string, err error) {
	if err := c.lift(); err != nil {
		return nil, err
	}
	trial := *c
	trial.es, trial.names = newEdits(), nil
	if err := trial.run(); err != nil {
		return nil, err
	}
	if _, err := trial.apart(); err != nil {
		if c.toTheEnd() {
			return nil, nil
		}
		return nil, err
	}
	if err := c.run(); err != nil {
		return nil, err
	}
	return c.apart()
}

// apart looks for accesses that belong together in different regions.
func (c *cover) apart() (notes []string, err error) {
	own := c.in(c.f.body)
	for _, a := range own {
		for _, b := range own {
			if c.region[a.expr] == c.region[b.expr] || !c.decides(a, b) {
				continue
			}
			if err := c.excuse(a, b); err != nil {
				return nil, err
			}
			notes = append(notes, c.stayTwo(a, b))
		}
		for _, b := range c.under {
			if !c.decides(a, b) || c.testedAgain(a, b) {
				continue
			}
			if err := c.excuse(a, b); err != nil {
				return nil, err
			}
			notes = append(notes, c.stayTwo(a, b))
		}
	}
	return notes, nil
}

func (c *cover) stayTwo(a, b *access) string {
	what := "access"
	if b.mode.writes() {
		what = "write"
	}
	name := c.t.String()
	if nameOf(a.expr).Name != c.t.name {
		name = c.u.text(a.expr)
	}
	return fmt.Sprintf("%s (%s): the read and the later %s of %s stay two steps as they were, since what lies between cannot be done under the lock", c.f.name(), c.u.path, what, name)
}

// excuse returns why a and what it decides about must not stay apart; nil if
// they may.
func (c *cover) excuse(a, b *access) error {
	why, again := c.between(a, b)
	switch {
	case why != "" && sameVar(a, b):
		return nil
	case why == "" && again != "":
		why = "the lock is taken anew at " + again
	case why == "":
		why = "no one region can hold both"
	}
	return fmt.Errorf("%s: %s decides about %s (%s), and two regions are not one step: %s",
		c.u.at(a.expr), nameOf(a.expr).Name, nameOf(b.expr).Name, c.u.at(b.expr), why)
}

func sameVar(a, b *access) bool {
	_, v := a.unit.varOf(a.expr)
	_, w := b.unit.varOf(b.expr)
	return v != nil && w != nil && v.Origin() == w.Origin()
}

// between says what lies between two accesses, or around the second one, that
// must not be done under the lock; and where the lock itself is taken there.
func (c *cover) between(a, b *access) (why, again string) {
	end := b.expr.Pos()
	if s := c.stmtOf(b.expr); s != nil && simpleAround(c.u, b.expr) == ast.Node(s) {
		end = s.End()
	}
	ast.Inspect(c.f.body, func(n ast.Node) bool {
		if n == nil || why != "" || n.End() <= a.expr.Pos() || n.Pos() >= end {
			return false
		}
		switch n := n.(type) {
		case *ast.FuncLit:
			return c.u.runsAt(c.u.m.fns[n]) != nil
		case *ast.GoStmt, *ast.DeferStmt:
			return false
		case *ast.CallExpr:
			if op, ok := c.u.lockOp(n); ok && op.place.key == c.key && n.Pos() > a.expr.Pos() {
				again = c.u.at(n)
			} else if !ok || op.place.key != c.key {
				why = c.callReason(n)
			}
		case *ast.SendStmt, *ast.SelectStmt, *ast.UnaryExpr, *ast.RangeStmt:
			if isWait(n) {
				why = c.blockingHeader(n)
			}
		}
		return why == ""
	})
	return why, again
}

// blockingHeader returns why a statement or expression waits by itself.
func (c *cover) blockingHeader(n ast.Node) string {
	if r, ok := n.(*ast.RangeStmt); ok {
		head := *r
		head.Body = &ast.BlockStmt{}
		return c.blocks(&head)
	}
	return c.blocks(n)
}

// testedAgain reports whether a critical section reads a's variable once more
// before b, so that the read without the lock is a hint only.
func (c *cover) testedAgain(a, b *access) bool {
	for _, again := range c.under {
		if again == b || again.mode != read || !sameVar(a, again) || again.expr.Pos() > b.expr.Pos() || again.expr.Pos() < a.expr.Pos() {
			continue
		}
		if c.decides(again, b) && !c.unlockedBetween(again, b) {
			return true
		}
	}
	return sameVar(a, b) && b.mode == read && c.rereads(b)
}

// rereads: a read under the lock of what was read before it is itself the
// second test.
func (c *cover) rereads(b *access) bool {
	_, isIf := c.stmtOf(b.expr).(*ast.IfStmt)
	return isIf
}

func (c *cover) unlockedBetween(a, b *access) (found bool) {
	ast.Inspect(c.f.body, func(n ast.Node) bool {
		if _, ok := n.(*ast.DeferStmt); ok {
			return false
		}
		if call, ok := n.(*ast.CallExpr); ok && a.expr.Pos() < call.Pos() && call.Pos() < b.expr.Pos() {
			op, isOp := c.u.lockOp(call)
			found = found || isOp && !op.acquire && op.place.key == c.key
		}
		return !found
	})
	return found
}

// toTheEnd holds the lock from the first access to the end of the function,
// if nothing speaks against it.
func (c *cover) toTheEnd() bool {
	for i, s := range c.f.body.List {
		if c.has(s) {
			return c.holdTail(c.f.body.List[i:])
		}
	}
	return false
}
