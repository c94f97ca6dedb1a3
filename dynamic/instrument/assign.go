package instrument

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/interlock-go/interlock/dynamic/instrument/internal/evalorder"
	"github.com/interlock-go/interlock/dynamic/instrument/internal/source"
	"github.com/interlock-go/interlock/dynamic/instrument/internal/textedit"
)

// assign rewrites an assignment. Before a monitored store its right-hand side
// is evaluated, if that calls, receives or panics:
//
//	x.f, err = g()     _il1, _il2 := g(); (*rt.W(&x.f, 1)), err = _il1, _il2
//	x, err := g()      _il1, _il2 := g(); x := _il1; (*rt.W(&err, 1)) = _il2
func (r *rewriter) assign(s *ast.AssignStmt, may, whole bool) lowered {
	tree := &evalorder.Node{}
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
			tree.Hook(a) // its operands follow
		case !split && !r.isDeclared(lhs):
			r.Expr(lhs, tree)
		}
	}
	vals := r.values(s, tree)
	if split {
		r.keepOperands(s, vals)
	}
	if len(stores) > 0 && (split || len(s.Lhs) != len(s.Rhs) || vals.Calls() || r.anyPanics(s.Rhs)) {
		for a := range stores {
			tree.Needs(a, vals)
		}
	}
	if !r.fits(s, vals) {
		for _, h := range tree.Hooks {
			h.Unmonitored = source.NoName
		}
		may = false
	}
	l := lowered{before: r.settle(tree, may), declares: declares}
	if split && vals.Spilled {
		l.instead = r.oneByOne(s, vals)
	}
	return l
}

// update adds an op-assignment. If its right operand panics, nothing is stored
// and nothing must have been announced.
func (r *rewriter) update(s *ast.AssignStmt, tree *evalorder.Node) {
	r.Expr(s.Lhs[0], tree)
	a := r.store(s.Lhs[0])
	if a == nil || !evalorder.MayPanic(r.Info, s.Rhs[0]) {
		r.Expr(s.Rhs[0], tree)
		return
	}
	operand := tree.Kid(evalorder.Copied, s.Rhs[0])
	r.Expr(s.Rhs[0], operand)
	tree.Needs(a, operand)
}

// stores returns the monitored accesses that s itself writes.
func (r *rewriter) stores(s *ast.AssignStmt) map[*source.Access]bool {
	found := map[*source.Access]bool{}
	for _, lhs := range s.Lhs {
		if a := r.store(lhs); a != nil {
			found[a] = true
		}
	}
	return found
}

// store returns the monitored access that assigning to lhs makes, or nil.
func (r *rewriter) store(lhs ast.Expr) *source.Access {
	lhs = ast.Unparen(lhs)
	a := r.Places[lhs]
	if x, ok := lhs.(*ast.IndexExpr); ok && r.Behind[x.X] != nil {
		a = r.Behind[x.X]
	}
	if a == nil || a.Unmonitored != "" {
		return nil
	}
	return a
}

func (r *rewriter) isDeclared(lhs ast.Expr) bool {
	id, ok := lhs.(*ast.Ident)
	return ok && r.Info.Defs[id] != nil
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
		case a == nil, s.Tok == token.ASSIGN && (i == 0 || !evalorder.MayPanic(r.Info, lhs)):
		case possible && free:
			split = true
		default:
			a.Unmonitored = source.Order
		}
	}
	return split
}

// values adds the right-hand sides of s to the tree.
func (r *rewriter) values(s *ast.AssignStmt, tree *evalorder.Node) *evalorder.Node {
	vals := tree.Kid(evalorder.Values, s.Rhs...)
	vals.Results = len(s.Lhs)
	for i, e := range s.Rhs {
		var to types.Type
		if len(s.Lhs) == len(s.Rhs) && s.Tok == token.ASSIGN && !source.IsBlank(s.Lhs[i]) {
			to = r.Info.TypeOf(s.Lhs[i])
		}
		r.Converted(e, to, vals)
	}
	if s.Tok == token.DEFINE {
		for _, lhs := range s.Lhs {
			vals.Declared = append(vals.Declared, r.isDeclared(lhs))
			vals.Blank = append(vals.Blank, source.IsBlank(lhs))
		}
	}
	return vals
}

// fits reports whether the right-hand sides can go to temporaries: results of
// the comma-ok forms are plain booleans there, and a constant that stays must
// not mean a variable that is declared before it.
func (r *rewriter) fits(s *ast.AssignStmt, vals *evalorder.Node) bool {
	commaOK := len(s.Lhs) == 2 && len(s.Rhs) == 1 && !source.IsCall(s.Rhs[0])
	if commaOK && s.Tok == token.ASSIGN && !source.IsBlank(s.Lhs[1]) {
		return types.AssignableTo(types.Typ[types.Bool], r.Info.TypeOf(s.Lhs[1]))
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
		if r.Keeps(vals, i) {
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
func (r *rewriter) oneByOne(s *ast.AssignStmt, vals *evalorder.Node) []textedit.Piece {
	var out []textedit.Piece
	for i, lhs := range s.Lhs {
		if source.IsBlank(lhs) && (s.Tok == token.DEFINE || vals.Temps[i] == "") {
			continue
		}
		op := " = "
		if r.isDeclared(lhs) {
			op = " := "
		}
		if len(out) > 0 {
			out = append(out, textedit.Text("; "))
		}
		out = append(out, textedit.BodyOf(r.Cut(lhs)), textedit.Text(op))
		if name := vals.Temps[i]; name != "" {
			out = append(out, textedit.Text(name))
		} else {
			out = append(out, textedit.BodyOf(r.Cut(s.Rhs[i])))
		}
	}
	return out
}

func (r *rewriter) anyPanics(list []ast.Expr) bool {
	for _, e := range list {
		if evalorder.MayPanic(r.Info, e) {
			return true
		}
	}
	return false
}

// channelElem returns the element type of the channel type t.
func channelElem(t types.Type) types.Type {
	if c, ok := source.Under(t).(*types.Chan); ok {
		return c.Elem()
	}
	return nil
}
