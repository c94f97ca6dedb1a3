package critsec

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/interlock-go/interlock/patchgen/internal/source"
)

// dependences knows what the accesses of a scope decide about.
type dependences struct {
	*Scope
	byRead map[ast.Expr]*dependence
}

// dependence is what the value of one read decides about in its function: the
// code that runs or not by it, and the locals that carry it. It follows
// assignments to locals and the conditions of statements in the order of the
// source. What a read decides about the next round of a loop, and values that
// travel through fields or through what a blocking call or a receive yields,
// are not followed.
type dependence struct {
	of      *dependences
	read    *source.Access
	carries map[types.Object]bool
	spans   []span
	grew    bool
}

type span struct{ from, to token.Pos }

// rest is the code from one position to another, as a node.
type rest span

func (c *dependences) IsLinked(a *source.Access, own []*source.Access) bool {
	for _, b := range own {
		if c.Decides(a, b) || c.Decides(b, a) {
			return true
		}
	}
	return false
}

// Decides reports whether the value that a reads decides about b, further
// down: whether b happens at all, where, or what it stores.
func (c *dependences) Decides(a, b *source.Access) bool {
	if a.Mode != source.Read || b.Expr.Pos() <= a.Expr.Pos() {
		return false
	}
	in := c.of(a)
	for _, s := range in.spans {
		if s.from <= b.Expr.Pos() && b.Expr.Pos() < s.to {
			return true
		}
	}
	if !b.Mode.Writes() {
		return in.reaches(b.Whole)
	}
	s := simpleAround(c.File, b.Expr)
	return s != nil && in.reaches(s)
}

// simpleAround is the statement, of those without statements in them, that e
// belongs to.
func simpleAround(file *source.File, e ast.Node) ast.Node {
	for n := file.Parents[e]; n != nil; n = file.Parents[n] {
		switch n.(type) {
		case *ast.AssignStmt, *ast.IncDecStmt, *ast.ExprStmt, *ast.ReturnStmt, *ast.SendStmt, *ast.DeclStmt, *ast.GoStmt,
			*ast.DeferStmt:
			return n
		case ast.Stmt:
			return nil
		}
	}
	return nil
}

func (c *dependences) of(a *source.Access) *dependence {
	in := c.byRead[a.Expr]
	if in == nil {
		in = &dependence{of: c, read: a, carries: map[types.Object]bool{}}
		for in.grew = true; in.grew; {
			in.grew, in.spans = false, nil
			ast.Inspect(c.Function.Body, in.visit)
		}
		c.byRead[a.Expr] = in
	}
	return in
}

// visit grows the influence by one node, in source order.
func (in *dependence) visit(n ast.Node) bool {
	switch n := n.(type) {
	// y := v.f	y carries the value
	case *ast.AssignStmt:
		in.assign(n, n.Lhs, n.Rhs)
	case *ast.ValueSpec:
		names := make([]ast.Expr, len(n.Names))
		for i, id := range n.Names {
			names[i] = id
		}
		in.assign(n, names, n.Values)
	// if v.f { y++ }
	case *ast.IncDecStmt:
		if in.within(n) {
			in.carry(n.X)
		}
	// v.f && w.g	w.g is evaluated by the value of v.f
	case *ast.BinaryExpr:
		if (n.Op == token.LAND || n.Op == token.LOR) && in.reaches(n.X) {
			in.control(n.Y)
		}
	// if v.f {…} else {…}, and what a jump in it leaves out
	case *ast.IfStmt:
		if in.reaches(n.Cond) {
			in.control(n.Body)
			in.control(n.Else)
			in.control(in.skippedBy(n)...)
		}
	case *ast.SwitchStmt, *ast.TypeSwitchStmt:
		_, header, body := clauses(n.(ast.Stmt))
		for _, h := range header {
			if in.reaches(h) {
				in.control(body)
				in.control(in.skippedBy(n)...)
				break
			}
		}
	case *ast.ForStmt:
		if n.Cond != nil && in.reaches(n.Cond) {
			in.control(n.Body, n.Post)
			in.control(in.skippedBy(n)...)
		}
	// for k := range v.f {…}
	case *ast.RangeStmt:
		if in.reaches(n.X) {
			in.carry(n.Key)
			in.carry(n.Value)
			in.control(n.Body)
			in.control(in.skippedBy(n)...)
		}
	}
	return true
}

// assign lets the locals on the left carry what is on the right.
func (in *dependence) assign(s ast.Node, lhs, rhs []ast.Expr) {
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

func (in *dependence) carry(e ast.Expr) {
	id, ok := e.(*ast.Ident)
	if !ok || id.Name == "_" {
		return
	}
	if obj := in.of.File.Package.Info.ObjectOf(id); obj != nil && !source.IsGlobal(obj) && !in.carries[obj] {
		in.carries[obj], in.grew = true, true
	}
}

func (in *dependence) control(nodes ...ast.Node) {
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

func (r rest) Pos() token.Pos { return r.from }

func (r rest) End() token.Pos { return r.to }

func (in *dependence) within(n ast.Node) bool {
	for _, s := range in.spans {
		if s.from <= n.Pos() && n.Pos() < s.to {
			return true
		}
	}
	return false
}

// reaches reports whether evaluating n uses the value: the read itself, or a
// local that carries it.
func (in *dependence) reaches(n ast.Node) (found bool) {
	file := in.of.File
	ast.Inspect(n, func(x ast.Node) bool {
		switch x := x.(type) {
		case *ast.FuncLit:
			return !found && file.RunsAt(file.Module.FunctionAt(x)) != nil
		case *ast.UnaryExpr:
			if x.Op == token.ARROW {
				return false
			}
		case *ast.CallExpr:
			if sel, ok := x.Fun.(*ast.SelectorExpr); ok && in.of.callReason(x) != "" && isPointerOrInterface(file, sel.X) {
				// What it yields is the work of the object behind.
				for _, arg := range x.Args {
					found = found || in.reaches(arg)
				}
				return false
			}
		case ast.Expr:
			if x == in.read.Expr {
				found = true
			}
			if id, ok := x.(*ast.Ident); ok && id.Pos() > in.read.Expr.Pos() && in.carries[file.Package.Info.Uses[id]] {
				found = true
			}
		}
		return !found
	})
	return found
}

func isPointerOrInterface(file *source.File, e ast.Expr) bool {
	t := file.TypeOf(e)
	return t != nil && (source.IsPointer(t) || types.IsInterface(t))
}

// skippedBy returns what a jump out of s makes run or not: for a return all that
// follows, for the others what follows in the statement that they leave or
// go on with.
func (in *dependence) skippedBy(s ast.Node) (out []ast.Node) {
	file, stmt := in.of.File, s.(ast.Stmt)
	ast.Inspect(s, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.ReturnStmt:
			out = append(out, rest{s.End(), in.of.Function.Body.End()})
		case *ast.ExprStmt:
			if source.IsPanic(file, n) {
				out = append(out, rest{s.End(), in.of.Function.Body.End()})
			}
		case *ast.BranchStmt:
			if in.of.File.Leaves(n, stmt) {
				out = append(out, rest{s.End(), in.endOfLeft(n)})
			}
		}
		return true
	})
	return out
}

// endOfLeft is the end of the statement that a jump leaves or goes on with.
func (in *dependence) endOfLeft(b *ast.BranchStmt) token.Pos {
	for n := in.of.File.Parents[b]; n != nil; n = in.of.File.Parents[n] {
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
	return in.of.Function.Body.End()
}
