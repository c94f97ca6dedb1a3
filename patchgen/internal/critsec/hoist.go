package critsec

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/types/typeutil"

	"github.com/interlock-go/interlock/patchgen/internal/source"
)

// hoist copies what the accesses in s read into locals, by statements before
// at, and lets s use those.
func (c *builder) hoist(s, at ast.Stmt, accs []*source.Access, r *region) error {
	if err := c.checkNil(accs, s); err != nil {
		return err
	}
	names := map[string]string{}
	for _, a := range accs {
		if err := c.record(r, []*source.Access{a}); err != nil {
			return err
		}
		if c.copiedWithOther(a, accs) {
			continue // copied with what it is a part of
		}
		if c.needsSnapshot(a) {
			c.snapshot(at, a)
			continue
		}
		e := a.Whole
		if why := c.blocks(e); why != "" {
			return fmt.Errorf("%s: %s", c.File.At(e), why)
		}
		text := c.File.Text(e)
		name, ok := names[text]
		if !ok {
			name = c.Fresh(c.NameFor(e))
			names[text] = name
			c.before(at, func() string { return name + " := " + text })
		}
		c.edits.Replace(c.File, e, name)
	}
	return nil
}

// copiedWithOther reports whether a is an operand of what another access is copied with.
func (c *builder) copiedWithOther(a *source.Access, accs []*source.Access) bool {
	for _, b := range accs {
		if b != a && !c.needsSnapshot(b) && b.Whole.Pos() <= a.Expr.Pos() && a.Expr.End() <= b.Whole.End() {
			return true
		}
	}
	return false
}

// needsSnapshot reports whether a is a map or slice that is changed in place
// and that the statement goes through while it may block: ranged over, or
// lent to a function that only reads it.
func (c *builder) needsSnapshot(a *source.Access) bool {
	if !c.Variable.Deep || a.Mode != source.Read || a.Element {
		return false
	}
	if a.Call != nil {
		return source.IsMap(c.File.TypeOf(a.Expr)) && c.blocks(a.Call) != ""
	}
	return c.ranged(a)
}

// ranged reports whether a is what a range statement iterates over.
func (c *builder) ranged(a *source.Access) bool {
	rs, ok := c.File.Parents[a.Whole].(*ast.RangeStmt)
	return ok && rs.X == a.Whole
}

// snapshot copies a map or slice under the lock, for the statement to use.
func (c *builder) snapshot(s ast.Stmt, a *source.Access) {
	text := c.File.Text(a.Expr)
	name := c.Fresh(c.NameFor(a.Expr))
	t := c.File.TypeOf(a.Expr)
	c.edits.Replace(c.File, a.Expr, name)
	if !source.IsMap(t) {
		c.before(s, func() string { return fmt.Sprintf("%s := append(%s[:0:0], %s...)", name, text, text) })
		return
	}
	k, v := c.Fresh("k"), c.Fresh("v")
	c.before(s, func() string {
		return fmt.Sprintf("%s := make(%s, len(%s))\nfor %s, %s := range %s {\n\t%s[%s] = %s\n}", name, c.TypeText(t), text,
			k, v, text, name, k, v)
	})
}

// hoistCalls evaluates what may block in s before s. It fails where that
// depends on the variable, or is evaluated only under a condition.
func (c *builder) hoistCalls(s ast.Stmt) (err error) {
	ast.Inspect(s, func(n ast.Node) bool {
		e, ok := n.(ast.Expr)
		if err != nil || !ok || c.blocks(e) == "" {
			return err == nil
		}
		if _, isLit := e.(*ast.FuncLit); isLit {
			return false
		}
		if c.has(e) {
			if c.blocksItself(e) {
				err = fmt.Errorf("%s: what is stored depends on the old value through code that %s", c.File.At(e), c.blocks(e))
			}
			return err == nil
		}
		if c.conditional(&source.Access{Expr: e}, s) {
			err = fmt.Errorf("%s: %s under a condition", c.File.At(e), c.blocks(e))
			return false
		}
		if err = ComputedBeside(c.File, c.Variable, e); err != nil {
			return false
		}
		if err = StartsEarly(c.File, e); err != nil {
			return false
		}
		// x.f = f, where f := g() stands before the lock.
		name := c.Fresh(c.StoredIn(s))
		text := c.File.Text(e)
		c.edits.Replace(c.File, e, name)
		c.before(s, func() string { return name + " := " + text })
		return false
	})
	if err == nil && isSend(s) {
		err = fmt.Errorf("%s: sends on a channel", c.File.At(s))
	}
	return err
}

// StartsEarly refuses an e that has another goroutine run a function, where what e returns is not stored under the
// lock with it: that function may come first, and find nothing stored.
//
//	t.timer = time.AfterFunc(d, t.fire) // fire resets t.timer
func StartsEarly(file *source.File, e ast.Node) (err error) {
	ast.Inspect(e, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || err != nil {
			return err == nil
		}
		if fn := typeutil.StaticCallee(file.Package.Info, call); fn != nil &&
			(fn.FullName() == "time.AfterFunc" || fn.FullName() == "context.AfterFunc") {
			err = fmt.Errorf("%s: %s may run its function before what it returns is stored", file.At(call),
				fn.FullName())
		}
		return true
	})
	return err
}

// ComputedBeside refuses an e with a method of what another field of the variable's object holds, where the module
// calls one for its effect too: what protects the store alone leaves that unguarded.
//
//	b.policy.Reset()
//	b.next = b.policy.Next()
func ComputedBeside(file *source.File, t *source.Variable, e ast.Node) (err error) {
	ast.Inspect(e, func(n ast.Node) bool {
		beside, ok := receiver(n).(*ast.SelectorExpr)
		if !ok || err != nil {
			return err == nil
		}
		obj, ok := file.Package.Info.Uses[beside.Sel].(*types.Var)
		if !ok || !obj.IsField() {
			return true
		}
		v := file.Module.NewVariable(obj, file, beside)
		if v.Owner == nil || t.Owner == nil || v.Owner.Obj() != t.Owner.Obj() || t.Within && v.Key == t.Key {
			return true // the patch covers what the variable itself holds
		}
		for _, a := range file.Module.Accesses(v) {
			if s, ok := a.File.StmtOf(a.Expr).(*ast.ExprStmt); ok && receiver(s.X) == a.Expr {
				err = fmt.Errorf("%s: %s computes what is stored, and changes (%s): protecting the store leaves it out",
					file.At(e), file.Text(beside), a.File.At(a.Expr))
			}
		}
		return true
	})
	return err
}

// receiver returns x of a call x.f(); nil for anything else.
func receiver(n ast.Node) ast.Expr {
	call, ok := n.(*ast.CallExpr)
	if !ok {
		return nil
	}
	if sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok {
		return ast.Unparen(sel.X)
	}
	return nil
}

func isSend(s ast.Stmt) bool {
	_, ok := s.(*ast.SendStmt)
	return ok
}

// blocksItself reports whether e may block even if its operands do not.
func (c *builder) blocksItself(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.CallExpr:
		return c.callReason(e) != ""
	case *ast.UnaryExpr:
		return e.Op == token.ARROW
	}
	return false
}

// storeTuple turns a, x.f = g() into a call without the lock and a store
// under it.
func (c *builder) storeTuple(s *ast.AssignStmt, accs []*source.Access) (*region, error) {
	if len(c.In(s.Rhs[0])) > 0 {
		return nil, fmt.Errorf("%s: what is stored depends on the old value through code that %s", c.File.At(s),
			c.blocks(s.Rhs[0]))
	}
	var stores []string
	for _, lhs := range s.Lhs {
		if len(c.In(lhs)) == 0 {
			continue
		}
		if why := c.blocks(lhs); why != "" {
			return nil, fmt.Errorf("%s: %s", c.File.At(lhs), why)
		}
		name := c.Fresh(c.NameFor(lhs))
		c.edits.Replace(c.File, lhs, name)
		if s.Tok == token.ASSIGN {
			typ := c.TypeText(c.File.TypeOf(lhs))
			c.before(s, func() string { return "var " + name + " " + typ })
		}
		stores = append(stores, c.File.Text(lhs)+" = "+name)
	}
	r := c.open(nil, 0, nil)
	if err := c.record(r, accs); err != nil {
		return nil, err
	}
	c.after(s, func() string { return r.lockText() + "\n" + strings.Join(stores, "\n") })
	return r, nil
}
