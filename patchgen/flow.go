package patchgen

import (
	"fmt"
	"go/ast"
	"go/token"
)

// branch is one way through an if, switch or select.
type branch struct {
	list  []ast.Stmt
	end   token.Pos                // where code at the end of an empty list goes
	close func(text func() string) // ends the region on a way that the source does not spell out
}

func (c *cover) ifStmt(list []ast.Stmt, i int, s *ast.IfStmt, r *region) (*region, error) {
	header := c.in(s.Init, s.Cond)
	why := c.blocks(s.Cond)
	if s.Init != nil && why == "" {
		why = c.blocks(s.Init)
	}
	if len(header) == 0 {
		if r != nil && c.blocks(s) == "" {
			return r, c.exits(s, r)
		}
		if r != nil {
			c.before(s, r.unlockText)
		}
		return nil, c.descendIf(s)
	}
	if s.Init != nil && c.blocks(s.Init) != "" && len(c.in(s.Init)) == 0 && c.blocks(s.Cond) == "" {
		return nil, c.initApart(s, r)
	}
	hold := c.carry(s.Body.List, -1) || c.elseCarries(s) || !c.ends(s.Body.List) && c.carry(list, i) ||
		s.Else == nil && c.carry(list, i)
	if why != "" || !hold && s.Init == nil && !anyWrites(header) {
		if s.Init != nil && len(c.in(s.Cond)) > 0 {
			return nil, fmt.Errorf("%s: %s before the variable is tested", c.u.at(s), why)
		}
		if _, err := c.copyBefore(list, i, r, header); err != nil {
			return nil, err
		}
		return nil, c.descendIf(s)
	}
	if !hold && len(c.in(s.Cond)) == 0 && c.extractable(s.Init) {
		return nil, c.extract(list, i, s, r)
	}
	if err := c.derefs(header, s); err != nil {
		return nil, err
	}
	r = c.open(list, i, r)
	if err := c.note(r, header); err != nil {
		return nil, err
	}
	return c.branches(c.ifBranches(s), r)
}

func (c *cover) elseCarries(s *ast.IfStmt) bool {
	switch e := s.Else.(type) {
	case *ast.BlockStmt:
		return c.carry(e.List, -1)
	case *ast.IfStmt:
		return c.carry([]ast.Stmt{e}, -1)
	}
	return false
}

// descendIf covers the branches of an if that is entered unlocked.
func (c *cover) descendIf(s *ast.IfStmt) error {
	if err := c.sub(s.Body.List); err != nil {
		return err
	}
	switch e := s.Else.(type) {
	case *ast.BlockStmt:
		return c.sub(e.List)
	case *ast.IfStmt:
		if len(c.in(e.Init, e.Cond)) == 0 {
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
func (c *cover) braces(e *ast.IfStmt) (done func()) {
	c.es.add(c.u, c.u.offset(e.Pos()), c.u.offset(e.Pos()), func() string { return "{\n" })
	return func() {
		c.es.add(c.u, c.u.offset(e.End()), c.u.offset(e.End()), func() string { return "\n}" })
	}
}

// ifBranches lists the ways through an if that is entered with the lock held.
func (c *cover) ifBranches(s *ast.IfStmt) []branch {
	out := []branch{{list: s.Body.List, end: s.Body.Rbrace}}
	switch e := s.Else.(type) {
	case *ast.BlockStmt:
		out = append(out, branch{list: e.List, end: e.Rbrace})
	case *ast.IfStmt:
		out = append(out, branch{list: []ast.Stmt{e}})
	case nil:
		out = append(out, branch{close: func(text func() string) {
			c.es.add(c.u, c.u.offset(s.End()), c.u.offset(s.End()), func() string { return " else {\n" + text() + "\n}" })
		}})
	}
	return out
}

// branches covers ways that are all entered with r open. Where they end
// alike, the region may go on; else each closes it.
func (c *cover) branches(ways []branch, r *region) (*region, error) {
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
func (c *cover) branch(b branch, r *region) (still, falls bool, err error) {
	if len(b.list) == 0 {
		return true, true, nil
	}
	falls = !c.ends(b.list)
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

func (c *cover) closeBranch(b branch, r *region) {
	switch {
	case b.close != nil:
		b.close(r.unlockText)
	case len(b.list) > 0:
		c.after(b.list[len(b.list)-1], r.unlockText)
	default:
		c.es.add(c.u, c.u.offset(b.end), c.u.offset(b.end), func() string { return "\n" + r.unlockText() + "\n" })
	}
}

// ends reports whether control never reaches the end of the list.
func (c *cover) ends(list []ast.Stmt) bool {
	if len(list) == 0 {
		return false
	}
	switch s := list[len(list)-1].(type) {
	case *ast.ReturnStmt, *ast.BranchStmt:
		return true
	case *ast.BlockStmt:
		return c.ends(s.List)
	case *ast.IfStmt:
		switch e := s.Else.(type) {
		case *ast.BlockStmt:
			return c.ends(s.Body.List) && c.ends(e.List)
		case *ast.IfStmt:
			return c.ends(s.Body.List) && c.ends([]ast.Stmt{e})
		}
		return false
	default:
		return isPanic(c.u, s)
	}
}

// exits unlocks on the ways out of s, which is held as a whole.
func (c *cover) exits(s ast.Stmt, r *region) error {
	if err := c.derefs(c.in(s), s); err != nil {
		return err
	}
	if err := c.note(r, c.in(s)); err != nil {
		return err
	}
	c.held(s, r)
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
			if c.leaves(n, s) {
				c.before(n, r.unlockText)
			}
		case *ast.DeferStmt:
			if c.has(n) {
				err = fmt.Errorf("%s: a deferred call accesses it", c.u.at(n))
			}
		case *ast.ExprStmt:
			if isPanic(c.u, n) {
				if c.has(n) {
					err = fmt.Errorf("%s: panics with it", c.u.at(n))
				}
				c.before(n, r.unlockText)
			}
		}
		return err == nil
	})
	return err
}

// leaves reports whether a break, continue or goto leads out of s.
func (c *cover) leaves(b *ast.BranchStmt, s ast.Stmt) bool {
	if b.Tok == token.FALLTHROUGH {
		return false
	}
	for n := c.u.parents[b]; n != nil; n = c.u.parents[n] {
		within := n.Pos() >= s.Pos() && n.End() <= s.End()
		if !within {
			return true
		}
		switch n := n.(type) {
		case *ast.LabeledStmt:
			if b.Label != nil && n.Label.Name == b.Label.Name {
				return false
			}
		case *ast.ForStmt, *ast.RangeStmt:
			if b.Label == nil {
				return false
			}
		case *ast.SwitchStmt, *ast.TypeSwitchStmt, *ast.SelectStmt:
			if b.Label == nil && b.Tok == token.BREAK {
				return false
			}
		}
	}
	return true
}

// extractable reports whether the init statement of an if can stand before
// it: the names that it declares occur nowhere else around.
func (c *cover) extractable(init ast.Stmt) bool {
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
		ast.Inspect(c.f.decl().node, func(n ast.Node) bool {
			if x, ok := n.(*ast.Ident); ok && x.Name == id.Name && id.Name != "_" && c.u.pkg.info.ObjectOf(x) != c.u.pkg.info.ObjectOf(id) {
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

// extract moves the init statement of an if before it, under the lock.
func (c *cover) extract(list []ast.Stmt, i int, s *ast.IfStmt, r *region) error {
	accs := c.in(s.Init)
	if err := c.derefs(accs, s.Init); err != nil {
		return err
	}
	r = c.open(list, i, r)
	if err := c.note(r, accs); err != nil {
		return err
	}
	text := c.u.text(s.Init)
	c.before(s, func() string { return text })
	c.before(s, r.unlockText)
	c.es.add(c.u, c.u.offset(s.Init.Pos()), c.u.offset(s.Cond.Pos()), func() string { return "" })
	return c.descendIf(s)
}

// initApart evaluates the init statement of an if before the region that the
// condition needs. Braces keep its names to themselves where others share them.
func (c *cover) initApart(s *ast.IfStmt, r *region) error {
	if err := c.derefs(c.in(s.Cond), s); err != nil {
		return err
	}
	if r != nil {
		c.before(s, r.unlockText)
	}
	text, braces := c.u.text(s.Init), !c.extractable(s.Init)
	if braces {
		text = "{\n" + text
	}
	c.before(s, func() string { return text })
	c.es.add(c.u, c.u.offset(s.Init.Pos()), c.u.offset(s.Cond.Pos()), func() string { return "" })
	r = c.open(nil, 0, nil)
	c.before(s, r.lockText)
	if err := c.note(r, c.in(s.Cond)); err != nil {
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
