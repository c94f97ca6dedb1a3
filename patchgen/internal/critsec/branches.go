package critsec

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"

	"github.com/interlock-go/interlock/patchgen/internal/source"
)

// branch is one way through an if, switch or select.
type branch struct {
	list  []ast.Stmt
	end   token.Pos                // where code at the end of an empty list goes
	close func(text func() string) // ends the region on a way that the source does not spell out
}

// ifStmt covers list[i], an if statement. What its header accesses may be read
// before it, or under a lock that goes on into the branches:
//
//	x := v.f			mu.Lock()
//	if x > 0 {			if v.f > 0 {
//						v.f--
//						mu.Unlock()
//	}					} else { mu.Unlock() }
func (c *builder) ifStmt(list []ast.Stmt, i int, s *ast.IfStmt, r *region) (*region, error) {
	header := c.In(s.Init, s.Cond)
	if len(header) == 0 {
		return c.ifWithoutHeader(s, r)
	}
	// if v := wait(); x.f == v {}: the init statement waits, the test is under the lock.
	condBlocks, initBlocks := c.blocks(s.Cond), ""
	if s.Init != nil {
		initBlocks = c.blocks(s.Init)
	}
	if initBlocks != "" && condBlocks == "" && len(c.In(s.Init)) == 0 {
		return nil, c.initApart(s, r)
	}
	// A header that waits, or a test that no branch follows up, uses copies.
	hold := c.staysHeld(list, i, s)
	if why := cmp.Or(condBlocks, initBlocks); why != "" || !hold && s.Init == nil && !anyWrites(header) {
		if s.Init != nil && len(c.In(s.Cond)) > 0 {
			return nil, fmt.Errorf("%s: %s before the variable is tested", c.File.At(s), why)
		}
		if _, err := c.copyBefore(list, i, r, header); err != nil {
			return nil, err
		}
		return nil, c.descendIf(s)
	}
	// if n := x.f; n > 0 {}: only the init statement needs the lock.
	if !hold && len(c.In(s.Cond)) == 0 && c.initCanMove(s.Init) {
		return nil, c.moveInit(list, i, s, r)
	}
	// Else the lock is held around the header and into the branches.
	if err := c.checkNil(header, s); err != nil {
		return nil, err
	}
	r = c.open(list, i, r)
	if err := c.record(r, header); err != nil {
		return nil, err
	}
	return c.branches(c.ifBranches(s), r)
}

// ifWithoutHeader covers an if whose header does not access the variable: held
// as a whole where it can be, else entered unlocked.
func (c *builder) ifWithoutHeader(s *ast.IfStmt, r *region) (*region, error) {
	if r != nil && c.blocks(s) == "" {
		return r, c.unlockExits(s, r)
	}
	if r != nil {
		c.before(s, r.unlockText)
	}
	return nil, c.descendIf(s)
}

// staysHeld reports whether a region that is open at the test of list[i] is of
// use behind it: in a branch, or after the statement.
func (c *builder) staysHeld(list []ast.Stmt, i int, s *ast.IfStmt) bool {
	if c.carry(s.Body.List, -1) || c.elseCarries(s) {
		return true
	}
	return (s.Else == nil || !c.File.Ends(s.Body.List)) && c.carry(list, i)
}

// elseCarries reports whether the region goes on into the else branch.
func (c *builder) elseCarries(s *ast.IfStmt) bool {
	switch e := s.Else.(type) {
	case *ast.BlockStmt:
		return c.carry(e.List, -1)
	case *ast.IfStmt:
		return c.carry([]ast.Stmt{e}, -1)
	}
	return false
}

// descendIf covers the branches of an if that is entered unlocked.
func (c *builder) descendIf(s *ast.IfStmt) error {
	if err := c.sub(s.Body.List); err != nil {
		return err
	}
	switch e := s.Else.(type) {
	case *ast.BlockStmt:
		return c.sub(e.List)
	case *ast.IfStmt:
		if len(c.In(e.Init, e.Cond)) == 0 {
			return c.descendIf(e)
		}
		done := c.braces(e)
		err := c.sub([]ast.Stmt{e})
		done()
		return err
	}
	return nil
}

// braces turns `else if` into `else { if`, so that code can stand before it.
func (c *builder) braces(e *ast.IfStmt) (done func()) {
	c.edits.Add(c.File, c.File.Offset(e.Pos()), c.File.Offset(e.Pos()), func() string { return "{\n" })
	return func() {
		c.edits.Add(c.File, c.File.Offset(e.End()), c.File.Offset(e.End()), func() string { return "\n}" })
	}
}

// ifBranches lists the ways through an if that is entered with the lock held.
func (c *builder) ifBranches(s *ast.IfStmt) []branch {
	out := []branch{{list: s.Body.List, end: s.Body.Rbrace}}
	switch e := s.Else.(type) {
	case *ast.BlockStmt:
		out = append(out, branch{list: e.List, end: e.Rbrace})
	case *ast.IfStmt:
		out = append(out, branch{list: []ast.Stmt{e}})
	case nil:
		out = append(out, branch{close: func(text func() string) {
			c.edits.Add(c.File, c.File.Offset(s.End()), c.File.Offset(s.End()),
				func() string { return " else {\n" + text() + "\n}" })
		}})
	}
	return out
}

// branches covers ways that are all entered with r open. Where they end
// alike, the region may go on; else each closes it.
func (c *builder) branches(ways []branch, r *region) (*region, error) {
	var open []branch
	closed := 0
	for _, b := range ways {
		still, falls, err := c.branch(b, r)
		switch {
		case err != nil:
			return nil, err
		case still:
			open = append(open, b)
		case falls:
			closed++
		}
	}
	if closed == 0 && len(open) > 0 {
		return r, nil
	}
	for _, b := range open {
		c.closeBranch(b, r)
	}
	return nil, nil
}

// branch covers one way; still says that the region is open at its end, falls
// that its end is reached.
func (c *builder) branch(b branch, r *region) (still, falls bool, err error) {
	if len(b.list) == 0 {
		return true, true, nil
	}
	falls = !c.File.Ends(b.list)
	if elseIf, ok := b.list[0].(*ast.IfStmt); ok && b.end == token.NoPos {
		done := c.braces(elseIf)
		out, err := c.list(b.list, r, false)
		if err == nil && out != nil {
			c.after(elseIf, out.unlockText)
		}
		done()
		return false, falls, err
	}
	if !c.carry(b.list, -1) {
		if _, isReturn := b.list[0].(*ast.ReturnStmt); !isReturn {
			c.before(b.list[0], r.unlockText)
			return false, falls, c.sub(b.list)
		}
	}
	out, err := c.list(b.list, r, false)
	if out != nil && out != r {
		c.after(b.list[len(b.list)-1], out.unlockText)
		out = nil
	}
	return out != nil && falls, falls, err
}

func (c *builder) closeBranch(b branch, r *region) {
	switch {
	case b.close != nil:
		b.close(r.unlockText)
	case len(b.list) > 0:
		c.after(b.list[len(b.list)-1], r.unlockText)
	default:
		c.edits.Add(c.File, c.File.Offset(b.end), c.File.Offset(b.end), func() string { return "\n" + r.unlockText() + "\n" })
	}
}

// unlockExits unlocks on the ways out of s, which is held as a whole.
func (c *builder) unlockExits(s ast.Stmt, r *region) error {
	// The statement itself is held: all that it does counts for the region.
	if err := c.checkNil(c.In(s), s); err != nil {
		return err
	}
	if err := c.record(r, c.In(s)); err != nil {
		return err
	}
	c.recordUse(s, r)
	// On each way out of it the lock is released first. Ways that a nested function takes are its own.
	var err error
	ast.Inspect(s, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.ReturnStmt:
			if _, e := c.returnStmt(nil, 0, n, r); e != nil {
				err = e
			}
		case *ast.BranchStmt:
			if c.File.Leaves(n, s) {
				c.before(n, r.unlockText)
			}
		case *ast.DeferStmt:
			if c.has(n) {
				err = fmt.Errorf("%s: a deferred call accesses it", c.File.At(n))
			}
		case *ast.ExprStmt:
			if source.IsPanic(c.File, n) {
				if c.has(n) {
					err = fmt.Errorf("%s: panics with it", c.File.At(n))
				}
				c.before(n, r.unlockText)
			}
		}
		return err == nil
	})
	return err
}

// initCanMove reports whether the init statement of an if can stand before
// it: the names that it declares occur nowhere else around.
func (c *builder) initCanMove(init ast.Stmt) bool {
	as, ok := init.(*ast.AssignStmt)
	if !ok || as.Tok != token.DEFINE {
		return ok
	}
	for _, lhs := range as.Lhs {
		id, ok := lhs.(*ast.Ident)
		if !ok {
			return false
		}
		uses := 0
		ast.Inspect(c.Function.Declaration().Node, func(n ast.Node) bool {
			if x, ok := n.(*ast.Ident); ok && x.Name == id.Name && id.Name != "_" &&
				c.File.Package.Info.ObjectOf(x) != c.File.Package.Info.ObjectOf(id) {
				uses++
			}
			return true
		})
		if uses > 0 {
			return false
		}
	}
	return true
}

// moveInit moves the init statement of an if before it, under the lock.
func (c *builder) moveInit(list []ast.Stmt, i int, s *ast.IfStmt, r *region) error {
	accs := c.In(s.Init)
	if err := c.checkNil(accs, s.Init); err != nil {
		return err
	}
	r = c.open(list, i, r)
	if err := c.record(r, accs); err != nil {
		return err
	}
	text := c.File.Text(s.Init)
	c.before(s, func() string { return text })
	c.before(s, r.unlockText)
	c.edits.Add(c.File, c.File.Offset(s.Init.Pos()), c.File.Offset(s.Cond.Pos()), func() string { return "" })
	return c.descendIf(s)
}

// initApart evaluates the init statement of an if before the region that the
// condition needs. Braces keep its names to themselves where others share them.
func (c *builder) initApart(s *ast.IfStmt, r *region) error {
	if err := c.checkNil(c.In(s.Cond), s); err != nil {
		return err
	}
	if r != nil {
		c.before(s, r.unlockText)
	}
	text, braces := c.File.Text(s.Init), !c.initCanMove(s.Init)
	if braces {
		text = "{\n" + text
	}
	c.before(s, func() string { return text })
	c.edits.Add(c.File, c.File.Offset(s.Init.Pos()), c.File.Offset(s.Cond.Pos()), func() string { return "" })
	r = c.open(nil, 0, nil)
	c.before(s, r.lockText)
	if err := c.record(r, c.In(s.Cond)); err != nil {
		return err
	}
	r, err := c.branches(c.ifBranches(s), r)
	if err != nil {
		return err
	}
	if r != nil {
		c.after(s, r.unlockText)
	}
	if braces {
		c.after(s, func() string { return "}" })
	}
	return nil
}
