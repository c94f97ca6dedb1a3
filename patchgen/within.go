package patchgen

import (
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"strings"
)

// carry reports whether the region goes on after list[i] (-1: from the start
// of the list): to an access that is near or, after a test, to what the test
// is for.
func (c *cover) carry(list []ast.Stmt, i int) bool {
	tested := i < 0
	if !tested {
		switch list[i].(type) {
		case *ast.IfStmt, *ast.SwitchStmt, *ast.TypeSwitchStmt:
			tested = true
		}
	}
	for gap := 0; i+1+gap < len(list); gap++ {
		s := list[i+1+gap]
		if c.leads(s) && (gap <= maxGap || c.decided(s, list[i+1].Pos())) {
			return true
		}
		if c.blocks(s) != "" {
			return false
		}
		if gap == 0 && tested && c.isUse(s) {
			return true
		}
	}
	return false
}

// decided reports whether an access before a position decides about one in s.
func (c *cover) decided(s ast.Stmt, before token.Pos) bool {
	for _, a := range c.acc {
		if a.expr.Pos() >= before {
			continue
		}
		for _, b := range c.in(s) {
			if c.decides(a, b) {
				return true
			}
		}
	}
	return false
}

// leads reports whether a region that is open before s is of use to it: s
// accesses the variable before anything that may block.
func (c *cover) leads(s ast.Stmt) bool {
	if !c.has(s) {
		return false
	}
	switch s := s.(type) {
	case *ast.IfStmt:
		return len(c.in(s.Init, s.Cond)) > 0 || c.blocks(s) == ""
	case *ast.SwitchStmt:
		return len(c.in(s.Init, s.Tag)) > 0 || c.blocks(s) == ""
	case *ast.ForStmt, *ast.RangeStmt, *ast.SelectStmt, *ast.TypeSwitchStmt, *ast.BlockStmt, *ast.LabeledStmt:
		return c.blocks(s) == ""
	}
	return c.blocks(s) == "" || !anyWrites(c.in(s))
}

// isUse reports whether s changes state of the object that holds the
// variable, or calls a method of that object.
func (c *cover) isUse(s ast.Stmt) (found bool) {
	if c.base == "" || c.blocks(s) != "" {
		return false
	}
	within := func(e ast.Expr) bool {
		for _, l := range append(leftmost(e), e) {
			if p, ok := c.u.place(l); ok && (p.key == c.base || strings.HasPrefix(p.key, c.base+".")) && l != e {
				return true
			}
		}
		return false
	}
	ast.Inspect(s, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit, *ast.GoStmt, *ast.DeferStmt:
			return false
		case *ast.AssignStmt:
			for _, lhs := range n.Lhs {
				found = found || within(lhs)
			}
		case *ast.IncDecStmt:
			found = found || within(n.X)
		case *ast.CallExpr:
			if sel, ok := n.Fun.(*ast.SelectorExpr); ok && c.u.callee(n) != nil {
				p, ok := c.u.place(sel.X)
				found = found || ok && p.key == c.base
			}
		}
		return !found
	})
	return found
}

// in lists the accesses to cover that evaluating the nodes performs: those in
// literals only where the literal runs on the spot.
func (c *cover) in(nodes ...ast.Node) []*access {
	var out []*access
	for _, n := range nodes {
		if n == nil {
			continue
		}
		ast.Inspect(n, func(x ast.Node) bool {
			if lit, ok := x.(*ast.FuncLit); ok && c.u.runsAt(c.u.m.fns[lit]) == nil {
				return false
			}
			if e, ok := x.(ast.Expr); ok && c.acc[e] != nil {
				out = append(out, c.acc[e])
			}
			return true
		})
	}
	return out
}

// blocks returns why n must not be evaluated under the lock.
func (c *cover) blocks(n ast.Node) (why string) {
	if why = c.u.blocks(n); why != "" || len(c.takes) == 0 {
		return why
	}
	ast.Inspect(n, func(x ast.Node) bool {
		switch x := x.(type) {
		case *ast.FuncLit:
			return c.u.runsAt(c.u.m.fns[x]) != nil
		case *ast.GoStmt, *ast.DeferStmt:
			return false
		case *ast.CallExpr:
			if why == "" {
				why = c.callReason(x)
			}
		}
		return why == ""
	})
	return why
}

// callReason returns why a call may not be made under the lock, its operands
// apart.
func (c *cover) callReason(call *ast.CallExpr) string {
	if callee := c.u.callee(call); callee != nil && c.takes[callee] {
		return fmt.Sprintf("calls %s, which takes the lock too", callee.name())
	}
	return c.u.callReason(call)
}

func (c *cover) has(n ast.Node) bool { return len(c.in(n)) > 0 }

func anyWrites(accs []*access) bool {
	for _, a := range accs {
		if a.mode.writes() {
			return true
		}
	}
	return false
}

func isGo(s ast.Stmt) bool {
	_, ok := s.(*ast.GoStmt)
	return ok
}

func isPanic(u *unit, s ast.Stmt) bool {
	if es, ok := s.(*ast.ExprStmt); ok {
		if call, ok := es.X.(*ast.CallExpr); ok {
			return isBuiltin(u, call, "panic")
		}
	}
	return false
}

var errNilGuard = errors.New("its object may be nil unless what stands before it holds")

// derefs refuses accesses that s evaluates only if something before them
// holds, where locking early could dereference nil.
func (c *cover) derefs(accs []*access, s ast.Node) error {
	for _, a := range accs {
		if c.conditional(a, s) && !c.surelyNonNil(a, s) {
			return fmt.Errorf("%s: %w", a.unit.at(a.expr), errNilGuard)
		}
	}
	return nil
}

// conditional reports whether a is on the right of && or || in s.
func (c *cover) conditional(a *access, s ast.Node) bool {
	var e ast.Node = a.expr
	for e != s && e != nil {
		p := c.u.parents[e]
		if b, ok := p.(*ast.BinaryExpr); ok && (b.Op == token.LAND || b.Op == token.LOR) && b.Y == e {
			return true
		}
		e = p
	}
	return false
}

// surelyNonNil: the object is no pointer, or the receiver that the function
// never compares with nil, or its fields are selected before the access.
func (c *cover) surelyNonNil(a *access, s ast.Node) bool {
	if a.base == nil || !isPointer(c.u.pkg.info.TypeOf(a.base)) {
		return true
	}
	text, compared, selected := c.u.text(a.base), false, false
	ast.Inspect(c.f.body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BinaryExpr:
			if comparesNil(n) && (c.u.text(n.X) == text || c.u.text(n.Y) == text) {
				compared = true
			}
		case *ast.SelectorExpr:
			if n.Pos() >= s.Pos() && n.Pos() < a.expr.Pos() && c.u.text(n.X) == text {
				selected = selected || !c.conditional(&access{expr: n}, s)
			}
		}
		return true
	})
	if compared {
		return false
	}
	if id, ok := ast.Unparen(a.base).(*ast.Ident); ok {
		if obj := c.u.pkg.info.ObjectOf(id); obj == c.f.receiver() || c.u.allocated(obj) {
			return true
		}
	}
	return selected
}
