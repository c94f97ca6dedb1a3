package patchgen

import (
	"go/ast"
	"go/token"
	"go/types"
)

// influence is what the value of one read decides about in its function: the
// code that runs or not by it, and the locals that carry it. It follows
// assignments to locals and the conditions of statements in the order of the
// source. What a read decides about the next round of a loop, and values that
// travel through fields or through what a blocking call or a receive yields,
// are not followed.
type influence struct {
	c       *cover
	a       *access
	carries map[types.Object]bool
	spans   []span
	grew    bool
}

type span struct{ from, to token.Pos }

// decides reports whether the value that a reads decides about b, further
// down: whether b happens at all, where, or what it stores.
func (c *cover) decides(a, b *access) bool {
	if a.mode != read || b.expr.Pos() <= a.expr.Pos() {
		return false
	}
	in := c.influenceOf(a)
	for _, s := range in.spans {
		if s.from <= b.expr.Pos() && b.expr.Pos() < s.to {
			return true
		}
	}
	if !b.mode.writes() {
		return in.reaches(b.whole)
	}
	s := simpleAround(c.u, b.expr)
	return s != nil && in.reaches(s)
}

// simpleAround is the statement, of those without statements in them, that e
// belongs to.
func simpleAround(u *unit, e ast.Node) ast.Node {
	for n := u.parents[e]; n != nil; n = u.parents[n] {
		switch n.(type) {
		case *ast.AssignStmt, *ast.IncDecStmt, *ast.ExprStmt, *ast.ReturnStmt, *ast.SendStmt, *ast.DeclStmt, *ast.GoStmt, *ast.DeferStmt:
			return n
		case ast.Stmt:
			return nil
		}
	}
	return nil
}

func (c *cover) influenceOf(a *access) *influence {
	if c.influences == nil {
		c.influences = map[ast.Expr]*influence{}
	}
	in := c.influences[a.expr]
	if in == nil {
		in = &influence{c: c, a: a, carries: map[types.Object]bool{}}
		for in.grew = true; in.grew; {
			in.grew, in.spans = false, nil
			ast.Inspect(c.f.body, in.visit)
		}
		c.influences[a.expr] = in
	}
	return in
}

// visit grows the influence by one node, in source order.
func (in *influence) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.AssignStmt:
		in.assign(n, n.Lhs, n.Rhs)
	case *ast.ValueSpec:
		names := make([]ast.Expr, len(n.Names))
		for i, id := range n.Names {
			names[i] = id
		}
		in.assign(n, names, n.Values)
	case *ast.IncDecStmt:
		if in.within(n) {
			in.carry(n.X)
		}
	case *ast.BinaryExpr:
		if (n.Op == token.LAND || n.Op == token.LOR) && in.reaches(n.X) {
			in.control(n.Y)
		}
	case *ast.IfStmt:
		if in.reaches(n.Cond) {
			in.control(n.Body)
			in.control(n.Else)
			in.control(in.behind(n)...)
		}
	case *ast.SwitchStmt, *ast.TypeSwitchStmt:
		_, header, body := clauses(n.(ast.Stmt))
		for _, h := range header {
			if in.reaches(h) {
				in.control(body)
				in.control(in.behind(n)...)
				break
			}
		}
	case *ast.ForStmt:
		if n.Cond != nil && in.reaches(n.Cond) {
			in.control(n.Body, n.Post)
			in.control(in.behind(n)...)
		}
	case *ast.RangeStmt:
		if in.reaches(n.X) {
			in.carry(n.Key)
			in.carry(n.Value)
			in.control(n.Body)
			in.control(in.behind(n)...)
		}
	}
	return true
}

// assign lets the locals on the left carry what is on the right.
func (in *influence) assign(s ast.Node, lhs, rhs []ast.Expr) {
	controlled := in.within(s)
	for i, l := range lhs {
		switch {
		case controlled:
			in.carry(l)
		case len(lhs) == len(rhs):
			if in.reaches(rhs[i]) {
				in.carry(l)
			}
		case len(rhs) == 1 && in.reaches(rhs[0]):
			in.carry(l)
		}
	}
}

func (in *influence) carry(e ast.Expr) {
	id, ok := e.(*ast.Ident)
	if !ok || id.Name == "_" {
		return
	}
	if obj := in.c.u.pkg.info.ObjectOf(id); obj != nil && !isGlobal(obj) && !in.carries[obj] {
		in.carries[obj], in.grew = true, true
	}
}

func (in *influence) control(nodes ...ast.Node) {
	for _, n := range nodes {
		switch n := n.(type) {
		case nil:
		case rest:
			in.spans = append(in.spans, span(n))
		default:
			in.spans = append(in.spans, span{n.Pos(), n.End()})
		}
	}
}

// rest is the code from one position to another, as a node.
type rest span

func (r rest) Pos() token.Pos { return r.from }
func (r rest) End() token.Pos { return r.to }

func (in *influence) within(n ast.Node) bool {
	for _, s := range in.spans {
		if s.from <= n.Pos() && n.Pos() < s.to {
			return true
		}
	}
	return false
}

// reaches reports whether evaluating n uses the value: the read itself, or a
// local that carries it.
func (in *influence) reaches(n ast.Node) (found bool) {
	u := in.c.u
	ast.Inspect(n, func(x ast.Node) bool {
		switch x := x.(type) {
		case *ast.FuncLit:
			return !found && u.runsAt(u.m.fns[x]) != nil
		case *ast.UnaryExpr:
			if x.Op == token.ARROW {
				return false
			}
		case *ast.CallExpr:
			if sel, ok := x.Fun.(*ast.SelectorExpr); ok && in.c.callReason(x) != "" && isPointerOrInterface(u, sel.X) {
				// What it yields is the work of the object behind.
				for _, arg := range x.Args {
					found = found || in.reaches(arg)
				}
				return false
			}
		case ast.Expr:
			if x == in.a.expr {
				found = true
			}
			if id, ok := x.(*ast.Ident); ok && id.Pos() > in.a.expr.Pos() && in.carries[u.pkg.info.Uses[id]] {
				found = true
			}
		}
		return !found
	})
	return found
}

func isPointerOrInterface(u *unit, e ast.Expr) bool {
	t := u.pkg.info.TypeOf(e)
	return t != nil && (isPointer(t) || types.IsInterface(t))
}

// behind returns what a jump out of s makes run or not: for a return all that
// follows, for the others what follows in the statement that they leave or
// go on with.
func (in *influence) behind(s ast.Node) (out []ast.Node) {
	u, stmt := in.c.u, s.(ast.Stmt)
	ast.Inspect(s, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.ReturnStmt:
			out = append(out, rest{s.End(), in.c.f.body.End()})
		case *ast.ExprStmt:
			if isPanic(u, n) {
				out = append(out, rest{s.End(), in.c.f.body.End()})
			}
		case *ast.BranchStmt:
			if in.c.leaves(n, stmt) {
				out = append(out, rest{s.End(), in.left(n)})
			}
		}
		return true
	})
	return out
}

// left is the end of the statement that a jump leaves or goes on with.
func (in *influence) left(b *ast.BranchStmt) token.Pos {
	for n := in.c.u.parents[b]; n != nil; n = in.c.u.parents[n] {
		switch n := n.(type) {
		case *ast.LabeledStmt:
			if b.Label != nil && n.Label.Name == b.Label.Name {
				return n.End()
			}
		case *ast.ForStmt, *ast.RangeStmt:
			if b.Label == nil {
				return n.End()
			}
		case *ast.SwitchStmt, *ast.TypeSwitchStmt, *ast.SelectStmt:
			if b.Label == nil && b.Tok == token.BREAK {
				return n.End()
			}
		}
	}
	return in.c.f.body.End()
}
