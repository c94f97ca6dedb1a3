package sites

import (
	"go/ast"
	"go/token"
	"go/types"
)

// An operand of Lock and Unlock is steady if it is the same lock wherever a function evaluates it, as far as
// variables go that the function does not assign itself:
//
//	s.mu, s.state.mu	where state is a struct, or a pointer that only literals set
//	s.shards[i].mu		likewise; an assignment to i the function sees
//	s.current.mu		not, if some function assigns current
//	s.byName[k].mu		not: an entry of a map may be another one
//	s.find(k).mu		not

// findAssigned notes the fields and package variables that functions of p assign, or take the address of, and the local
// variables with which some function does so where another function, a literal, uses them as well.
func (h *handovers) findAssigned(p *Package) {
	c := &assignments{h: h, info: p.Info, scope: p.Types.Scope(),
		local: map[*types.Var]bool{}, captured: map[*types.Var]bool{}}
	for _, f := range p.Files {
		ast.Inspect(f, func(n ast.Node) bool {
			c.visitNode(n)
			return true
		})
	}
	for v := range c.local {
		h.assigned[v] = h.assigned[v] || c.captured[v]
	}
}

// assignments collects those of a package.
type assignments struct {
	h     *handovers
	info  *types.Info
	scope *types.Scope
	// local are the local variables that are assigned after their declaration, captured those that literals use in
	// which they are not declared.
	local, captured map[*types.Var]bool
}

// visitNode notes the variables that n assigns or captures.
func (c *assignments) visitNode(n ast.Node) {
	switch n := n.(type) {
	case *ast.FuncLit:
		c.captures(n)
	case *ast.AssignStmt:
		for _, x := range n.Lhs {
			c.assign(x)
		}
	case *ast.IncDecStmt:
		c.assign(n.X)
	case *ast.RangeStmt:
		c.assign(n.Key)
		c.assign(n.Value)
	case *ast.UnaryExpr:
		if n.Op != token.AND {
			return
		}
		// A function that has the address may assign the variable.
		c.assign(n.X)
		if id, ok := ast.Unparen(n.X).(*ast.Ident); ok {
			if v, ok := c.info.Uses[id].(*types.Var); ok {
				c.captured[v] = true
			}
		}
	}
}

// captures notes the variables that a literal uses and that are declared outside of it.
func (c *assignments) captures(lit *ast.FuncLit) {
	ast.Inspect(lit.Body, func(n ast.Node) bool {
		if _, isInner := n.(*ast.FuncLit); isInner {
			return false // visited by itself
		}
		if id, ok := n.(*ast.Ident); ok {
			if v, ok := c.info.Uses[id].(*types.Var); ok && v.Pos() < lit.Pos() {
				c.captured[v] = true
			}
		}
		return true
	})
}

// assign notes the variable or field that x is. A variable behind a pointer has its address taken somewhere.
func (c *assignments) assign(x ast.Expr) {
	if x == nil {
		return
	}
	switch x := ast.Unparen(x).(type) {
	case *ast.SelectorExpr:
		if v, ok := c.info.Uses[x.Sel].(*types.Var); ok {
			c.h.assigned[v.Origin()] = true
		}
	case *ast.Ident:
		v, ok := c.info.Uses[x].(*types.Var)
		switch {
		case !ok: // it is declared here
		case v.Parent() == c.scope:
			c.h.assigned[v] = true
		default:
			c.local[v] = true
		}
	}
}

// isSteady reports whether x is steady.
func (s *releaseScan) isSteady(x ast.Expr) bool {
	switch x := ast.Unparen(x).(type) {
	case *ast.Ident:
		v, ok := s.info.ObjectOf(x).(*types.Var)
		return ok && s.keepsPlace(v)
	case *ast.SelectorExpr:
		v, ok := s.info.Uses[x.Sel].(*types.Var)
		if !ok || !s.keepsPlace(v) {
			return false
		}
		sel := s.info.Selections[x]
		return sel == nil || s.leadsSteadily(sel) && s.isSteady(x.X)
	case *ast.IndexExpr:
		if _, isMap := s.info.TypeOf(x.X).Underlying().(*types.Map); isMap {
			return false
		}
		return s.isSteady(x.X) && s.isSteadyIndex(x.Index)
	case *ast.StarExpr:
		return s.isSteady(x.X)
	}
	return false
}

// keepsPlace reports whether v is a place by itself, such as a struct, or a reference that nobody assigns where a
// function does not see it.
func (s *releaseScan) keepsPlace(v *types.Var) bool {
	switch v.Type().Underlying().(type) {
	case *types.Struct, *types.Array:
		return true
	}
	return !s.assigned[v.Origin()]
}

// leadsSteadily reports whether the embedded fields on the way to the selected one keep their places.
func (s *releaseScan) leadsSteadily(sel *types.Selection) bool {
	t := sel.Recv()
	for _, i := range sel.Index()[:len(sel.Index())-1] {
		f := structOf(t).Field(i)
		if !s.keepsPlace(f) {
			return false
		}
		t = f.Type()
	}
	return true
}

// isSteadyIndex reports whether the operands of an index are assigned nowhere else.
func (s *releaseScan) isSteadyIndex(x ast.Expr) bool {
	steady := true
	ast.Inspect(x, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr: // min(i, j), uint(i)
			f := s.info.Types[n.Fun]
			steady = steady && (f.IsBuiltin() || f.IsType())
		case *ast.Ident:
			v, ok := s.info.Uses[n].(*types.Var)
			steady = steady && !(ok && s.assigned[v.Origin()])
		}
		return steady
	})
	return steady
}
