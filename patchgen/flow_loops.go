package patchgen

import (
	"errors"
	"fmt"
	"go/ast"
)

// clauses gives header expressions and clauses of a switch.
func clauses(s ast.Stmt) (init ast.Stmt, header []ast.Node, body *ast.BlockStmt) {
	switch s := s.(type) {
	case *ast.SwitchStmt:
		init, body = s.Init, s.Body
		if s.Tag != nil {
			header = append(header, s.Tag)
		}
	case *ast.TypeSwitchStmt:
		init, body = s.Init, s.Body
		header = append(header, s.Assign)
	}
	for _, cl := range body.List {
		for _, e := range cl.(*ast.CaseClause).List {
			header = append(header, e)
		}
	}
	return init, header, body
}

func (c *cover) switchStmt(list []ast.Stmt, i int, r *region) (*region, error) {
	s := list[i]
	init, header, body := clauses(s)
	accs := c.in(header...)
	why := ""
	for _, h := range header {
		if why == "" {
			why = c.blocks(h)
		}
	}
	switch {
	case len(c.in(init)) > 0 || init != nil && c.blocks(init) != "" && len(accs) > 0:
		return nil, fmt.Errorf("%s: the switch initialises before it tests", c.u.at(s))
	case len(accs) == 0 && r != nil && c.blocks(s) == "":
		return r, c.exits(s, r)
	case len(accs) == 0:
		if r != nil {
			c.before(s, r.unlockText)
		}
		return nil, c.descendClauses(body)
	case why == "" && c.blocks(s) == "" && len(c.in(body)) > len(c.inCases(body)):
		// The clauses access it too: one region around all.
		r = c.open(list, i, r)
		return r, c.exits(s, r)
	}
	if _, err := c.copyBefore(list, i, r, accs); err != nil {
		return nil, err
	}
	return nil, c.descendClauses(body)
}

// inCases lists the accesses in the case expressions of a switch.
func (c *cover) inCases(body *ast.BlockStmt) (out []*access) {
	for _, cl := range body.List {
		for _, e := range cl.(*ast.CaseClause).List {
			out = append(out, c.in(e)...)
		}
	}
	return out
}

func (c *cover) descendClauses(body *ast.BlockStmt) error {
	for _, cl := range body.List {
		var list []ast.Stmt
		switch cl := cl.(type) {
		case *ast.CaseClause:
			list = cl.Body
		case *ast.CommClause:
			list = cl.Body
		}
		if err := c.sub(list); err != nil {
			return err
		}
	}
	return nil
}

// selectStmt reads channels and values to send before the select.
func (c *cover) selectStmt(list []ast.Stmt, i int, s *ast.SelectStmt, r *region) (*region, error) {
	var header []*access
	for _, cl := range s.Body.List {
		if comm := cl.(*ast.CommClause).Comm; comm != nil {
			header = append(header, c.in(comm)...)
		}
	}
	switch {
	case len(header) > 0:
		if _, err := c.copyBefore(list, i, r, header); err != nil {
			return nil, err
		}
	case r != nil:
		c.before(s, r.unlockText)
	}
	return nil, c.descendClauses(s.Body)
}

var errLoopHeader = errors.New("the loop's own header changes it")

func (c *cover) forStmt(list []ast.Stmt, i int, s *ast.ForStmt, r *region) (*region, error) {
	if len(c.in(s.Init)) > 0 || len(c.in(s.Post)) > 0 {
		if c.blocks(s) == "" {
			return c.whole(list, i, r)
		}
		return nil, fmt.Errorf("%s: %w", c.u.at(s), errLoopHeader)
	}
	if r != nil && c.blocks(s) == "" && c.has(s) {
		return c.whole(list, i, r)
	}
	if s.Cond != nil && len(c.in(s.Cond)) > 0 {
		if c.blocks(s) == "" && (anyWrites(c.in(s.Body)) || c.changesObject(s.Body)) {
			return c.whole(list, i, r)
		}
		if r != nil {
			c.before(s, r.unlockText)
		}
		return nil, c.testInBody(s)
	}
	if r != nil {
		if c.blocks(s) == "" {
			return r, c.exits(s, r)
		}
		c.before(s, r.unlockText)
	}
	return nil, c.sub(s.Body.List)
}

// changesObject reports whether a loop body works on the object that holds
// the variable, so that its condition can come to fail under the lock.
func (c *cover) changesObject(body *ast.BlockStmt) bool {
	for _, s := range body.List {
		if c.isUse(s) {
			return true
		}
	}
	return false
}

// whole holds the lock around list[i].
func (c *cover) whole(list []ast.Stmt, i int, r *region) (*region, error) {
	r = c.open(list, i, r)
	return r, c.exits(list[i], r)
}

// testInBody moves the condition of a loop into it, where it can be computed
// under the lock each time round.
func (c *cover) testInBody(s *ast.ForStmt) error {
	if why := c.blocks(s.Cond); why != "" {
		return fmt.Errorf("%s: the loop condition %s", c.u.at(s), why)
	}
	if err := c.derefs(c.in(s.Cond), s.Cond); err != nil {
		return err
	}
	r := c.open(nil, 0, nil)
	if err := c.note(r, c.in(s.Cond)); err != nil {
		return err
	}
	name, cond := c.fresh("more"), c.u.text(s.Cond)
	c.es.add(c.u, c.u.offset(s.Cond.Pos()), c.u.offset(s.Cond.End()), func() string { return "" })
	indent := c.u.indent(s.Pos()) + "\t"
	at := c.u.offset(s.Body.Lbrace) + 1
	c.es.add(c.u, at, at, func() string {
		return "\n" + indent + lines(r.lockText()+"\n"+name+" := "+cond+"\n"+r.unlockText()+"\nif !"+name+" {\n\tbreak\n}", indent)
	})
	return c.sub(s.Body.List)
}

func (c *cover) rangeStmt(list []ast.Stmt, i int, s *ast.RangeStmt, r *region) (*region, error) {
	if len(c.in(s.Key)) > 0 || len(c.in(s.Value)) > 0 {
		return nil, fmt.Errorf("%s: %w", c.u.at(s), errLoopHeader)
	}
	header := c.in(s.X)
	switch {
	case len(header) > 0 && c.blocks(s) == "":
		return c.whole(list, i, r)
	case len(header) > 0:
		if _, err := c.copyBefore(list, i, r, header); err != nil {
			return nil, err
		}
	case r != nil && c.blocks(s) == "":
		return r, c.exits(s, r)
	case r != nil:
		c.before(s, r.unlockText)
	}
	return nil, c.sub(s.Body.List)
}
