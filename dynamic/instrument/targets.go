package instrument

import (
	"go/ast"
	"go/types"

	"github.com/interlock-go/interlock/dynamic/instrument/internal/evalorder"
	"github.com/interlock-go/interlock/dynamic/instrument/internal/source"
)

// An assignment of several values that becomes one assignment a target must
// find its targets before it stores to the first: gc evaluates their operands
// when the calls of both sides are done, and checks indices and pointers only
// when it stores.
//
//	x.s[i], x.s[j] = x.s[j], x.s[i]
//	_il1 := x.s; _il2 := x.s; _il3, _il4 := x.s[j], x.s[i]; _il1[i] = _il3; _il2[j] = _il4

// keepOperands adds the operands of s's targets to vals: they are evaluated after
// the calls of s's values, and before its values.
func (r *rewriter) keepOperands(s *ast.AssignStmt, vals *evalorder.Node) {
	list, _ := r.operands(s)
	for _, e := range list {
		k := vals.Kid(evalorder.Copied, e)
		k.Required = true
		r.Expr(e, k)
	}
}

// operands returns the operands by which the targets of s are found, except
// those that cannot change meanwhile. It reports false if they cannot be
// evaluated in advance: if one calls, say, or a target is found through an
// embedded pointer, which has no expression.
func (r *rewriter) operands(s *ast.AssignStmt) ([]ast.Expr, bool) {
	assigned := map[types.Object]bool{}
	for _, lhs := range s.Lhs {
		if id, ok := ast.Unparen(lhs).(*ast.Ident); ok {
			assigned[r.Info.ObjectOf(id)] = true
		}
	}
	var list []ast.Expr
	ok := true
	add := func(e ast.Expr) {
		if r.unchanging(e, assigned) {
			return
		}
		probe := &evalorder.Node{}
		r.Expr(e, probe)
		ok = ok && len(probe.Kids) == 0
		list = append(list, e)
	}
	for _, lhs := range s.Lhs {
		if !r.operandsOf(lhs, add) {
			return nil, false
		}
	}
	return list, ok
}

// operandsOf calls add for the operands by which the place e is found.
func (r *rewriter) operandsOf(e ast.Expr, add func(ast.Expr)) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		return true
	case *ast.StarExpr:
		add(e.X)
		return true
	case *ast.SelectorExpr:
		sel := r.Info.Selections[e]
		switch {
		case sel == nil:
			return true
		case pointersOn(sel) > 1:
			return false
		case isPointer(sel.Recv()):
			add(e.X)
			return true
		}
		return pointersOn(sel) == 0 && r.operandsOf(e.X, add)
	case *ast.IndexExpr:
		if _, ok := source.Under(r.Info.TypeOf(e.X)).(*types.Array); ok {
			add(e.Index)
			return r.operandsOf(e.X, add)
		}
		add(e.X)
		add(e.Index)
		return true
	}
	return false
}

// pointersOn counts the pointers that the field selection sel goes through.
func pointersOn(sel *types.Selection) int {
	n, t := 0, sel.Recv()
	for _, i := range sel.Index() {
		if p, ok := source.Under(t).(*types.Pointer); ok {
			n, t = n+1, p.Elem()
		}
		st, ok := source.Under(t).(*types.Struct)
		if !ok {
			return 2 // cannot tell
		}
		t = st.Field(i).Type()
	}
	return n
}

// unchanging reports whether e is a constant or a plain local variable that is
// not assigned.
func (r *rewriter) unchanging(e ast.Expr, assigned map[types.Object]bool) bool {
	if r.Info.Types[e].Value != nil {
		return true
	}
	id, ok := ast.Unparen(e).(*ast.Ident)
	if !ok {
		return false
	}
	v, ok := r.Info.Uses[id].(*types.Var)
	return ok && !assigned[v] && v.Parent() != r.Pkg.Types.Scope() && r.Places[id] == nil && v.Pkg() == r.Pkg.Types
}

func isPointer(t types.Type) bool {
	_, ok := source.Under(t).(*types.Pointer)
	return ok
}
