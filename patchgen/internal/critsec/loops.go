package critsec

import (
	"errors"
	"fmt"
	"go/ast"

	"github.com/interlock-go/interlock/patchgen/internal/edit"
	"github.com/interlock-go/interlock/patchgen/internal/source"
)

// clauses returns the init statement, header expressions and clauses of a switch.
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

func (c *builder) switchStmt(list []ast.Stmt, i int, r *region) (*region, error) {
	s := list[i]
	init, header, body := clauses(s)
	accs := c.In(header...)
	why := ""
	for _, h := range header {
		if why == "" {
			why = c.blocks(h)
		}
	}
	switch {
	case len(c.In(init)) > 0 || init != nil && c.blocks(init) != "" && len(accs) > 0:
		return nil, fmt.Errorf("%s: the switch initialises before it tests", c.File.At(s))
	case len(accs) == 0 && r != nil && c.blocks(s) == "":
		return r, c.unlockExits(s, r)
	case len(accs) == 0:
		if r != nil {
			c.before(s, r.unlockText)
		}
		return nil, c.descendClauses(body)
	case why == "" && c.blocks(s) == "" && len(c.In(body)) > len(c.inCases(body)):
		// The clauses access it too: one region around all.
		r = c.open(list, i, r)
		return r, c.unlockExits(s, r)
	}
	if _, err := c.copyBefore(list, i, r, accs); err != nil {
		return nil, err
	}
	return nil, c.descendClauses(body)
}

// inCases lists the accesses in the case expressions of a switch.
func (c *builder) inCases(body *ast.BlockStmt) (out []*source.Access) {
	for _, cl := range body.List {
		for _, e := range cl.(*ast.CaseClause).List {
			out = append(out, c.In(e)...)
		}
	}
	return out
}

func (c *builder) descendClauses(body *ast.BlockStmt) error {
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
func (c *builder) selectStmt(list []ast.Stmt, i int, s *ast.SelectStmt, r *region) (*region, error) {
	var header []*source.Access
	for _, cl := range s.Body.List {
		if comm := cl.(*ast.CommClause).Comm; comm != nil {
			header = append(header, c.In(comm)...)
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

func (c *builder) forStmt(list []ast.Stmt, i int, s *ast.ForStmt, r *region) (*region, error) {
	if len(c.In(s.Init)) > 0 || len(c.In(s.Post)) > 0 {
		if c.blocks(s) == "" {
			return c.holdAround(list, i, r)
		}
		return nil, fmt.Errorf("%s: %w", c.File.At(s), errLoopHeader)
	}
	if r != nil && c.blocks(s) == "" && c.has(s) {
		return c.holdAround(list, i, r)
	}
	if s.Cond != nil && len(c.In(s.Cond)) > 0 {
		if c.blocks(s) == "" && (anyWrites(c.In(s.Body)) || c.changesObject(s.Body)) {
			return c.holdAround(list, i, r)
		}
		if r != nil {
			c.before(s, r.unlockText)
		}
		return nil, c.testInBody(s)
	}
	if r != nil {
		if c.blocks(s) == "" {
			return r, c.unlockExits(s, r)
		}
		c.before(s, r.unlockText)
	}
	return nil, c.sub(s.Body.List)
}

// changesObject reports whether a loop body works on the object that holds
// the variable, so that its condition can come to fail under the lock.
func (c *Scope) changesObject(body *ast.BlockStmt) bool {
	for _, s := range body.List {
		if c.UsesObject(s) {
			return true
		}
	}
	return false
}

// holdAround holds the lock around list[i].
func (c *builder) holdAround(list []ast.Stmt, i int, r *region) (*region, error) {
	r = c.open(list, i, r)
	return r, c.unlockExits(list[i], r)
}

// testInBody moves the condition of a loop into it, where it can be computed
// under the lock each time round.
func (c *builder) testInBody(s *ast.ForStmt) error {
	if why := c.blocks(s.Cond); why != "" {
		return fmt.Errorf("%s: the loop condition %s", c.File.At(s), why)
	}
	if err := c.checkNil(c.In(s.Cond), s.Cond); err != nil {
		return err
	}
	r := c.open(nil, 0, nil)
	if err := c.record(r, c.In(s.Cond)); err != nil {
		return err
	}
	name, cond := c.Fresh("more"), c.File.Text(s.Cond)
	c.edits.Add(c.File, c.File.Offset(s.Cond.Pos()), c.File.Offset(s.Cond.End()), func() string { return "" })
	indent := c.File.Indent(s.Pos()) + "\t"
	at := c.File.Offset(s.Body.Lbrace) + 1
	c.edits.Add(c.File, at, at, func() string {
		test := r.lockText() + "\n" + name + " := " + cond + "\n" + r.unlockText()
		return "\n" + indent + edit.Lines(test+"\nif !"+name+" {\n\tbreak\n}", indent)
	})
	return c.sub(s.Body.List)
}

func (c *builder) rangeStmt(list []ast.Stmt, i int, s *ast.RangeStmt, r *region) (*region, error) {
	if len(c.In(s.Key)) > 0 || len(c.In(s.Value)) > 0 {
		return nil, fmt.Errorf("%s: %w", c.File.At(s), errLoopHeader)
	}
	header := c.In(s.X)
	switch {
	case len(header) > 0 && c.blocks(s) == "":
		return c.holdAround(list, i, r)
	case len(header) > 0:
		if _, err := c.copyBefore(list, i, r, header); err != nil {
			return nil, err
		}
	case r != nil && c.blocks(s) == "":
		return r, c.unlockExits(s, r)
	case r != nil:
		c.before(s, r.unlockText)
	}
	return nil, c.sub(s.Body.List)
}
