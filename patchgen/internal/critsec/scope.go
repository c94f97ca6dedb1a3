package critsec

import (
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/patchgen/internal/facts"
	"github.com/interlock-go/interlock/patchgen/internal/source"
)

// Scope is one function with the accesses in it that a lock has to cover.
type Scope struct {
	File     *source.File
	Function *source.Function
	Facts    *facts.Facts
	Accesses map[ast.Expr]*source.Access
	Object   string // place of the object that holds the variable; "" if none
	// Acquirers take the lock once the patch is made, by themselves or through
	// what they call.
	Acquirers map[*ssa.Function]bool
}

// decided reports whether an access before a position decides about one in s.
func (c *Scope) decided(s ast.Stmt, before token.Pos) bool {
	for _, a := range c.Accesses {
		if a.Expr.Pos() >= before {
			continue
		}
		for _, b := range c.In(s) {
			if c.Facts.Decides(a, b) {
				return true
			}
		}
	}
	return false
}

// leadsTo reports whether a region that is open before s is of use to it: s
// accesses the variable before anything that may block.
func (c *Scope) leadsTo(s ast.Stmt) bool {
	if !c.has(s) {
		return false
	}
	switch s := s.(type) {
	case *ast.IfStmt:
		return len(c.In(s.Init, s.Cond)) > 0 || c.blocks(s) == ""
	case *ast.SwitchStmt:
		return len(c.In(s.Init, s.Tag)) > 0 || c.blocks(s) == ""
	case *ast.RangeStmt: // what it goes through is copied first
		return len(c.In(s.X)) > 0 || c.blocks(s) == ""
	case *ast.ForStmt, *ast.SelectStmt, *ast.TypeSwitchStmt, *ast.BlockStmt, *ast.LabeledStmt:
		return c.blocks(s) == ""
	}
	return c.blocks(s) == "" || !anyWrites(c.In(s))
}

// UsesObject reports whether s changes state of the object that holds the
// variable, or calls a method of that object.
func (c *Scope) UsesObject(s ast.Stmt) (found bool) {
	if c.Object == "" || c.blocks(s) != "" {
		return false
	}
	// x.f, x.m[k]: the place is within the object x
	within := func(e ast.Expr) bool {
		for _, l := range append(source.Leftmost(e), e) {
			if p, ok := c.File.PathOf(l); ok && (p.Key == c.Object || strings.HasPrefix(p.Key, c.Object+".")) && l != e {
				return true
			}
		}
		return false
	}
	// x.f = 1, x.f++ and x.method() count; what runs at another time does not.
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
			if sel, ok := n.Fun.(*ast.SelectorExpr); ok && c.File.Callee(n) != nil {
				p, ok := c.File.PathOf(sel.X)
				found = found || ok && p.Key == c.Object
			}
		}
		return !found
	})
	return found
}

// In lists the accesses to cover that evaluating the nodes performs: those in
// literals only where the literal runs on the spot.
func (c *Scope) In(nodes ...ast.Node) []*source.Access {
	var out []*source.Access
	for _, n := range nodes {
		if n == nil {
			continue
		}
		ast.Inspect(n, func(x ast.Node) bool {
			if lit, ok := x.(*ast.FuncLit); ok && c.File.RunsAt(c.File.Module.FunctionAt(lit)) == nil {
				return false
			}
			if e, ok := x.(ast.Expr); ok && c.Accesses[e] != nil {
				out = append(out, c.Accesses[e])
			}
			return true
		})
	}
	return out
}

// blocks returns why n must not be evaluated under the lock.
func (c *Scope) blocks(n ast.Node) string { return c.Facts.BlocksWith(c.File, n, c.Acquirers) }

// callReason returns why a call may not be made under the lock, its operands
// apart.
func (c *Scope) callReason(call *ast.CallExpr) string {
	return c.Facts.CallReason(c.File, call, c.Acquirers)
}

func (c *Scope) has(n ast.Node) bool { return len(c.In(n)) > 0 }

func anyWrites(accs []*source.Access) bool {
	for _, a := range accs {
		if a.Mode.Writes() {
			return true
		}
	}
	return false
}

func isGo(s ast.Stmt) bool {
	_, ok := s.(*ast.GoStmt)
	return ok
}

var errNilGuard = errors.New("its object may be nil unless what stands before it holds")

// checkNil refuses accesses that s evaluates only if something before them
// holds, where locking early could dereference nil.
func (c *Scope) checkNil(accs []*source.Access, s ast.Node) error {
	for _, a := range accs {
		if c.conditional(a, s) && !c.surelyNonNil(a, s) {
			return fmt.Errorf("%s: %w", a.File.At(a.Expr), errNilGuard)
		}
	}
	return nil
}

// conditional reports whether a is on the right of && or || in s.
func (c *Scope) conditional(a *source.Access, s ast.Node) bool {
	var e ast.Node = a.Expr
	for e != s && e != nil {
		p := c.File.Parents[e]
		if b, ok := p.(*ast.BinaryExpr); ok && (b.Op == token.LAND || b.Op == token.LOR) && b.Y == e {
			return true
		}
		e = p
	}
	return false
}

// surelyNonNil: the object is no pointer, or the receiver that the function
// never compares with nil, or its fields are selected before the access.
func (c *Scope) surelyNonNil(a *source.Access, s ast.Node) bool {
	if a.Base == nil || !source.IsPointer(c.File.TypeOf(a.Base)) {
		return true
	}
	text, compared, selected := c.File.Text(a.Base), false, false
	ast.Inspect(c.Function.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BinaryExpr:
			if source.IsComparison(n) && (c.File.Text(n.X) == text || c.File.Text(n.Y) == text) {
				compared = true
			}
		case *ast.SelectorExpr:
			if n.Pos() >= s.Pos() && n.Pos() < a.Expr.Pos() && c.File.Text(n.X) == text {
				selected = selected || !c.conditional(&source.Access{Expr: n}, s)
			}
		}
		return true
	})
	if compared {
		return false
	}
	if id, ok := ast.Unparen(a.Base).(*ast.Ident); ok {
		if obj := c.File.Package.Info.ObjectOf(id); obj == c.Function.Receiver() || c.File.Allocated(obj) {
			return true
		}
	}
	return selected
}
