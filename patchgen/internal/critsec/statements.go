package critsec

import (
	"fmt"
	"go/ast"
	"go/types"

	"github.com/interlock-go/interlock/patchgen/internal/source"
)

// list covers a statement list that is entered with region r open (nil:
// none), and returns the region that is open at its end.
func (c *builder) list(list []ast.Stmt, r *region, top bool) (*region, error) {
	for i, s := range list {
		if r == nil {
			if !c.has(s) {
				continue
			}
			// Right behind an Unlock, that moves: the lock need not be taken again.
			if _, kind := c.continues(list, i); top && kind == "" && c.deferUnlock(list[i:]) {
				return nil, nil
			}
		}
		var err error
		if r, err = c.stmt(list, i, r); err != nil {
			return nil, err
		}
		if r != nil && i+1 < len(list) && !c.carry(list, i) {
			c.after(s, r.unlockText)
			r = nil
		}
	}
	if top && r != nil {
		c.after(list[len(list)-1], r.unlockText)
		r = nil
	}
	return r, nil
}

// sub covers a nested list and closes its region at the end.
func (c *builder) sub(list []ast.Stmt) error {
	r, err := c.list(list, nil, false)
	if err == nil && r != nil {
		c.after(list[len(list)-1], r.unlockText)
	}
	return err
}

// stmt covers list[i].
func (c *builder) stmt(list []ast.Stmt, i int, r *region) (*region, error) {
	switch s := list[i].(type) {
	// A block joins the open region, or has one of its own.
	case *ast.BlockStmt:
		if r == nil {
			return nil, c.sub(s.List)
		}
		return c.list(s.List, r, false)
	// Lines before the statement go before its label.
	case *ast.LabeledStmt:
		c.anchors[s.Stmt] = s
		inner := append(append([]ast.Stmt(nil), list[:i]...), s.Stmt)
		return c.stmt(append(inner, list[i+1:]...), i, r)
	case *ast.IfStmt:
		return c.ifStmt(list, i, s, r)
	case *ast.SwitchStmt, *ast.TypeSwitchStmt:
		return c.switchStmt(list, i, r)
	case *ast.SelectStmt:
		return c.selectStmt(list, i, s, r)
	case *ast.ForStmt:
		return c.forStmt(list, i, s, r)
	case *ast.RangeStmt:
		return c.rangeStmt(list, i, s, r)
	case *ast.ReturnStmt:
		return c.returnStmt(list, i, s, r)
	// A jump may leave the region at any depth: it ends here.
	case *ast.BranchStmt:
		if r != nil {
			c.before(s, r.unlockText)
		}
		return nil, nil
	}
	return c.simple(list, i, r)
}

// simple covers a statement without statements in it.
func (c *builder) simple(list []ast.Stmt, i int, r *region) (*region, error) {
	s := list[i]
	accs, why := c.In(s), c.blocks(s)
	_, deferred := s.(*ast.DeferStmt)
	switch {
	case len(accs) == 0 && why == "" && !source.IsPanic(c.File, s):
		c.recordUse(s, r)
		return r, nil
	case len(accs) == 0:
		if r != nil {
			c.before(s, r.unlockText)
		}
		return nil, nil
	case deferred || isGo(s) || why != "" && !anyWrites(accs):
		return c.copyBefore(list, i, r, accs)
	case why == "" && source.IsPanic(c.File, s):
		return c.copyBefore(list, i, r, accs)
	case why != "" && c.isComputedFirst(s):
		return c.sendAfter(list, i, r, accs)
	case why != "":
		return c.storeAfter(list, i, r, accs)
	}
	if err := c.checkNil(accs, s); err != nil {
		return nil, err
	}
	r = c.open(list, i, r)
	c.recordUse(s, r)
	return r, c.record(r, accs)
}

// recordUse records that s runs under the lock: what it changes of the object
// needs the write side.
func (c *builder) recordUse(s ast.Stmt, r *region) {
	if r != nil && c.UsesObject(s) {
		r.write = true
	}
}

// copyBefore reads the variable into locals before list[i], which then runs
// without the lock.
func (c *builder) copyBefore(list []ast.Stmt, i int, r *region, accs []*source.Access) (*region, error) {
	if anyWrites(accs) {
		return nil, fmt.Errorf("%s: the access happens where the lock cannot be held", c.File.At(list[i]))
	}
	if r == nil && i > 0 && c.unlocks(list[i-1]) != nil {
		// The critical section that ends here can make the copies.
		r = &region{builder: c, continued: "Lock"}
		c.regions = append(c.regions, r)
		return nil, c.hoist(list[i], list[i-1], accs, r)
	}
	r = c.open(list, i, r)
	if err := c.hoist(list[i], list[i], accs, r); err != nil {
		return nil, err
	}
	c.before(list[i], r.unlockText)
	return nil, nil
}

// storeAfter computes what list[i] stores before the region, which then holds
// the store alone.
func (c *builder) storeAfter(list []ast.Stmt, i int, r *region, accs []*source.Access) (*region, error) {
	s := list[i]
	if r != nil {
		c.before(s, r.unlockText)
	}
	if as, ok := s.(*ast.AssignStmt); ok && len(as.Lhs) > 1 && len(as.Rhs) == 1 {
		return c.storeTuple(as, accs)
	}
	if err := c.hoistCalls(s); err != nil {
		return nil, err
	}
	r = c.open(nil, 0, nil)
	c.before(s, r.lockText)
	return r, c.record(r, accs)
}

// isComputedFirst reports whether a statement sends a value that can be computed under the lock, and by which alone it
// accesses the variable.
func (c *builder) isComputedFirst(s ast.Stmt) bool {
	send, ok := s.(*ast.SendStmt)
	if !ok || c.has(send.Chan) || c.blocks(send.Value) != "" {
		return false
	}
	calls := false // these come before what the value calls
	ast.Inspect(send.Chan, func(n ast.Node) bool {
		_, isCall := n.(*ast.CallExpr)
		calls = calls || isCall || source.IsWait(n)
		return true
	})
	return !calls
}

// sendAfter computes what list[i] sends in the region, and sends it behind.
//
//	ch <- x.queue.Pop()	becomes	item := x.queue.Pop(); mu.Unlock(); ch <- item
func (c *builder) sendAfter(list []ast.Stmt, i int, r *region, accs []*source.Access) (*region, error) {
	s := list[i].(*ast.SendStmt)
	if err := c.checkNil(accs, s); err != nil {
		return nil, err
	}
	r = c.open(list, i, r)
	c.hoistResult(s.Value)
	c.before(s, r.unlockText)
	return nil, c.record(r, accs)
}

func (c *builder) returnStmt(list []ast.Stmt, i int, s *ast.ReturnStmt, r *region) (*region, error) {
	accs := c.In(s)
	// return f(x): x belongs to the region, though the variable is not named
	if len(accs) == 0 {
		if r != nil && c.UsesObject(s) && len(s.Results) == 1 && !c.tuple(s.Results[0]) {
			c.hoistResult(s.Results[0])
			c.recordUse(s, r)
		}
		if r != nil {
			c.before(s, r.unlockText)
		}
		return nil, nil
	}
	// return wait(v.f): copied, since the call is made without the lock
	if why := c.blocks(s); why != "" {
		return c.copyBefore(list, i, r, accs)
	}
	if err := c.checkNil(accs, s); err != nil {
		return nil, err
	}
	r = c.open(list, i, r)
	if err := c.record(r, accs); err != nil {
		return nil, err
	}
	// return v.f	becomes	f := v.f; mu.Unlock(); return f
	for _, e := range s.Results {
		if len(c.In(e)) > 0 {
			c.hoistResult(e)
		}
	}
	c.before(s, r.unlockText)
	return nil, nil
}

// hoistResult computes a result before the return; of a call with several results, all of them.
func (c *builder) hoistResult(e ast.Expr) {
	name := c.Fresh(c.NameFor(e))
	if all, ok := c.File.TypeOf(e).(*types.Tuple); ok {
		for i := 1; i < all.Len(); i++ {
			next := "value"
			if types.Identical(all.At(i).Type(), types.Universe.Lookup("error").Type()) {
				next = "err"
			}
			name += ", " + c.Fresh(next)
		}
	}
	text := c.File.Text(e)
	c.edits.Replace(c.File, e, name)
	c.before(c.File.StmtOf(e), func() string { return name + " := " + text })
}

func (c *builder) tuple(e ast.Expr) bool {
	_, ok := c.File.TypeOf(e).(*types.Tuple)
	return ok
}

// carry reports whether the region goes on after list[i] (-1: from the start
// of the list): to an access that is near or, after a test, to what the test
// is for.
func (c *builder) carry(list []ast.Stmt, i int) bool {
	tested := i < 0
	if !tested {
		switch list[i].(type) {
		case *ast.IfStmt, *ast.SwitchStmt, *ast.TypeSwitchStmt:
			tested = true
		}
	}
	for gap := 0; i+1+gap < len(list); gap++ {
		s := list[i+1+gap]
		if c.leadsTo(s) && (gap <= maxGap || c.decided(s, list[i+1].Pos())) {
			return true
		}
		if c.blocks(s) != "" {
			return false
		}
		if gap == 0 && tested && c.UsesObject(s) {
			return true
		}
	}
	return false
}
