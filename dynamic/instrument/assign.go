package instrument

import (
	"go/ast"
	"go/token"
	"go/types"
)

// assign rewrites an assignment. Before a monitored store its right-hand side
// is evaluated, if that calls, receives or panics:
//
//	x.f, err = g()     _il1, _il2 := g(); (*rt.W(&x.f, 1)), err = _il1, _il2
//	x, err := g()      _il1, _il2 := g(); x := _il1; (*rt.W(&err, 1)) = _il2
func (r *rewriter) assign(s *ast.AssignStmt, may, whole bool) lowered {
	tree := &node{}
	if s.Tok != token.ASSIGN && s.Tok != token.DEFINE {
		r.update(s, tree)
		return lowered{before: r.settle(tree, may)}
	}
	declares := s.Tok == token.DEFINE
	split := r.splits(s, may && whole)
	stores := r.stores(s)
	for _, lhs := range s.Lhs {
		switch a := r.store(lhs); {
		case split && a != nil:
			tree.hook(a) // its operands follow
		case !split && !r.isDeclared(lhs):
			r.expr(lhs, tree)
		}
	}
	vals := r.values(s, tree)
	if split {
		r.keepOperands(s, vals)
	}
	if len(stores) > 0 && (split || len(s.Lhs) != len(s.Rhs) || vals.calls() || r.anyPanics(s.Rhs)) {
		for a := range stores {
			tree.needs(a, vals)
		}
	}
	if !r.fits(s, vals) {
		for _, h := range tree.hooks {
			h.left = NoName
		}
		may = false
	}
	l := lowered{before: r.settle(tree, may), declares: declares}
	if split && vals.spilled {
		l.instead = r.oneByOne(s, vals)
	}
	return l
}

// update adds an op-assignment. If its right operand panics, nothing is stored
// and nothing must have been announced.
func (r *rewriter) update(s *ast.AssignStmt, tree *node) {
	r.expr(s.Lhs[0], tree)
	a := r.store(s.Lhs[0])
	if a == nil || !mayPanic(r.info, s.Rhs[0]) {
		r.expr(s.Rhs[0], tree)
		return
	}
	operand := tree.kid(copied, s.Rhs[0])
	r.expr(s.Rhs[0], operand)
	tree.needs(a, operand)
}

// stores returns the monitored accesses that s itself writes.
func (r *rewriter) stores(s *ast.AssignStmt) map[*access]bool {
	found := map[*access]bool{}
	for _, lhs := range s.Lhs {
		if a := r.store(lhs); a != nil {
			found[a] = true
		}
	}
	return found
}

// store returns the monitored access that assigning to lhs makes, or nil.
func (r *rewriter) store(lhs ast.Expr) *access {
	lhs = ast.Unparen(lhs)
	a := r.places[lhs]
	if x, ok := lhs.(*ast.IndexExpr); ok && r.behind[x.X] != nil {
		a = r.behind[x.X]
	}
	if a == nil || a.left != "" {
		return nil
	}
	return a
}

func (r *rewriter) isDeclared(lhs ast.Expr) bool {
	id, ok := lhs.(*ast.Ident)
	return ok && r.info.Defs[id] != nil
}

// splits reports whether s must become one assignment a variable: if it
// declares and stores, or if a store but the first can panic, which it does
// when the first is done. If that is not possible, it leaves those alone.
func (r *rewriter) splits(s *ast.AssignStmt, possible bool) bool {
	split := false
	_, free := r.operands(s)
	for i, lhs := range s.Lhs {
		a := r.store(lhs)
		switch {
		case a == nil, s.Tok == token.ASSIGN && (i == 0 || !mayPanic(r.info, lhs)):
		case possible && free:
			split = true
		default:
			a.left = Order
		}
	}
	return split
}

// values adds the right-hand sides of s to the tree.
func (r *rewriter) values(s *ast.AssignStmt, tree *node) *node {
	vals := tree.kid(values, s.Rhs...)
	vals.results = len(s.Lhs)
	for i, e := range s.Rhs {
		var to types.Type
		if len(s.Lhs) == len(s.Rhs) && s.Tok == token.ASSIGN && !isBlank(s.Lhs[i]) {
			to = r.info.TypeOf(s.Lhs[i])
		}
		r.converted(e, to, vals)
	}
	if s.Tok == token.DEFINE {
		for _, lhs := range s.Lhs {
			vals.declared = append(vals.declared, r.isDeclared(lhs))
			vals.blank = append(vals.blank, isBlank(lhs))
		}
	}
	return vals
}

// fits reports whether the right-hand sides can go to temporaries: results of
// the comma-ok forms are plain booleans there, and a constant that stays must
// not mean a variable that is declared before it.
func (r *rewriter) fits(s *ast.AssignStmt, vals *node) bool {
	if len(s.Lhs) == 2 && len(s.Rhs) == 1 && !isCall(s.Rhs[0]) && s.Tok == token.ASSIGN && !isBlank(s.Lhs[1]) {
		return types.AssignableTo(types.Typ[types.Bool], r.info.TypeOf(s.Lhs[1]))
	}
	if s.Tok != token.DEFINE || len(s.Lhs) != len(s.Rhs) {
		return true
	}
	names := map[string]bool{}
	for _, lhs := range s.Lhs {
		if r.isDeclared(lhs) {
			names[lhs.(*ast.Ident).Name] = true
		}
	}
	ok := true
	for i, e := range s.Rhs {
		if vals.keeps(r.info, i) {
			ast.Inspect(e, func(n ast.Node) bool {
				id, isIdent := n.(*ast.Ident)
				ok = ok && !(isIdent && names[id.Name])
				return ok
			})
		}
	}
	return ok
}

// oneByOne returns the assignments of the values, which are in temporaries, to
// the targets of s, from left to right.
func (r *rewriter) oneByOne(s *ast.AssignStmt, vals *node) []piece {
	var out []piece
	for i, lhs := range s.Lhs {
		if isBlank(lhs) && (s.Tok == token.DEFINE || vals.temps[i] == "") {
			continue
		}
		op := " = "
		if r.isDeclared(lhs) {
			op = " := "
		}
		if len(out) > 0 {
			out = append(out, text("; "))
		}
		out = append(out, bodyOf(r.cut(lhs)), text(op))
		if name := vals.temps[i]; name != "" {
			out = append(out, text(name))
		} else {
			out = append(out, bodyOf(r.cut(s.Rhs[i])))
		}
	}
	return out
}

func (r *rewriter) anyPanics(list []ast.Expr) bool {
	for _, e := range list {
		if mayPanic(r.info, e) {
			return true
		}
	}
	return false
}

func isBlank(e ast.Expr) bool {
	id, ok := ast.Unparen(e).(*ast.Ident)
	return ok && id.Name == "_"
}

// channelElem returns the element type of the channel type t.
func channelElem(t types.Type) types.Type {
	if c, ok := under(t).(*types.Chan); ok {
		return c.Elem()
	}
	return nil
}
