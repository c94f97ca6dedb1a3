package patchgen

import (
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
)

// once makes `if x.f == nil { x.f = … }` run once, in a sync.Once beside the
// field or package variable. Reads that follow in the same function are then
// ordered after it; any other access speaks against it.
func once(p *problem) (*patch, error) {
	s, u, err := p.lazyInit()
	if err != nil {
		return nil, err
	}
	if err := p.onlyAfter(s, u); err != nil {
		return nil, err
	}
	if err := p.noWayOut(s, u); err != nil {
		return nil, err
	}
	if p.t.owner != nil {
		if err := p.m.noNewField(p.t.owner, "a sync.Once"); err != nil {
			return nil, err
		}
	}
	return p.writeOnce(s, u)
}

// lazyInit finds the one if statement that tests the variable and sets it.
func (p *problem) lazyInit() (found *ast.IfStmt, in *unit, err error) {
	for _, a := range p.accs {
		if !a.mode.writes() || a.unit.test && !p.named(a) || a.private() {
			continue
		}
		s := a.unit.initialisation(a, p)
		switch {
		case len(p.heldAt(a)) > 0:
			return nil, nil, fmt.Errorf("%s: %s is set under a lock already", a.unit.at(a.expr), p.t)
		case s == nil:
			return nil, nil, fmt.Errorf("%s is also set at %s, not only where it is found unset", p.t, a.unit.at(a.expr))
		case found != nil && found != s:
			return nil, nil, fmt.Errorf("%s is initialised in two places: %s and %s", p.t, in.at(found), a.unit.at(s))
		}
		found, in = s, a.unit
	}
	if found == nil {
		return nil, nil, fmt.Errorf("%s is not initialised lazily", p.t)
	}
	return found, in, nil
}

// initialisation returns the if statement around a write whose condition says
// that the variable is unset: x.f == nil, x.f == 0, !x.f.
func (u *unit) initialisation(a *access, p *problem) *ast.IfStmt {
	for n := u.parents[a.expr]; n != nil && n != a.fn.node; n = u.parents[n] {
		s, ok := n.(*ast.IfStmt)
		if !ok {
			continue
		}
		if s.Init != nil || s.Else != nil || a.expr.Pos() < s.Body.Pos() || !p.unset(u, s.Cond) {
			return nil
		}
		return s
	}
	return nil
}

func (p *problem) unset(u *unit, cond ast.Expr) bool {
	is := func(e ast.Expr) bool {
		x, obj := u.varOf(ast.Unparen(e))
		return obj != nil && objKey(p.m, obj) == p.t.key && x == ast.Unparen(e)
	}
	switch c := ast.Unparen(cond).(type) {
	case *ast.UnaryExpr:
		return c.Op == token.NOT && is(c.X)
	case *ast.BinaryExpr:
		if c.Op != token.EQL || !is(c.X) {
			return false
		}
		tv := u.pkg.info.Types[c.Y]
		return tv.IsNil() || tv.Value != nil && (tv.Value.ExactString() == "0" || tv.Value.ExactString() == `""`)
	}
	return false
}

// onlyAfter refuses accesses elsewhere than in s or after it in its function.
func (p *problem) onlyAfter(s *ast.IfStmt, u *unit) error {
	f := u.fnOf(s)
	if u.parents[s] != ast.Node(f.body) {
		return fmt.Errorf("%s: the initialisation is not at the function's top level", u.at(s))
	}
	for _, a := range p.protectable() {
		same := a.fn == f || a.fn != nil && a.fn.node.Pos() > s.End() && a.fn.decl() == f.decl()
		if !same || a.unit != u || a.expr.Pos() < s.Pos() {
			return fmt.Errorf("%s: %s is also accessed where the initialisation need not have run", a.unit.at(a.expr), p.t)
		}
		if a.mode.writes() && a.expr.Pos() > s.End() {
			return fmt.Errorf("%s: %s is set again", a.unit.at(a.expr), p.t)
		}
	}
	return nil
}

// noWayOut refuses bodies that cannot become a function literal, and those
// that could come back to the same initialisation.
func (p *problem) noWayOut(s *ast.IfStmt, u *unit) (err error) {
	ast.Inspect(s.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.ReturnStmt, *ast.BranchStmt, *ast.DeferStmt:
			err = fmt.Errorf("%s: the initialisation leaves its block early", u.at(n))
		case *ast.CallExpr:
			if isBuiltin(u, n, "recover") {
				err = errors.New("the initialisation recovers")
			}
			if callee := u.callee(n); callee != nil && callee.reaches(u.fnOf(s), map[*fn]bool{}) {
				err = fmt.Errorf("%s: %s leads back to the initialisation", u.at(n), u.text(n.Fun))
			}
		}
		return true
	})
	return err
}

// reaches reports whether f may call to through static calls of the module.
func (f *fn) reaches(to *fn, seen map[*fn]bool) (found bool) {
	if f == to {
		return true
	}
	if seen[f] {
		return false
	}
	seen[f] = true
	ast.Inspect(f.body, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && !found {
			if callee := f.unit.callee(call); callee != nil {
				found = callee.reaches(to, seen)
			}
		}
		return !found
	})
	return found
}

func (p *problem) writeOnce(s *ast.IfStmt, u *unit) (*patch, error) {
	name := lowerFirst(p.t.name) + "Once"
	if p.t.owner != nil {
		if obj, _, _ := types.LookupFieldOrMethod(types.NewPointer(p.t.owner), true, p.t.obj.Pkg(), name); obj != nil {
			return nil, fmt.Errorf("the name %s is taken", name)
		}
	} else if !isGlobal(p.t.obj) || p.t.obj.Pkg().Scope().Lookup(name) != nil {
		return nil, fmt.Errorf("no sync.Once can be placed beside %s", p.t)
	}
	es := newEdits()
	declUnit, id := p.declaration()
	if declUnit == nil {
		return nil, fmt.Errorf("the declaration of %s is not in the module", p.t)
	}
	pkg := es.addImport(declUnit, "sync")
	text := name + " " + pkg + ".Once // initialises " + p.t.name
	switch n := p.declNode(declUnit, id).(type) {
	case *ast.Field:
		list, ok := declUnit.parents[n].(*ast.FieldList)
		if !ok {
			return nil, fmt.Errorf("no sync.Once can be placed beside %s", p.t)
		}
		// At the end: a Once is twelve bytes, and what stands behind it may
		// need its alignment for atomic access.
		es.after(declUnit, list.List[len(list.List)-1], func() string { return text })
	case *ast.GenDecl:
		es.before(declUnit, documented(n, n.Doc), func() string { return "var " + text + "\n" })
	default:
		es.before(declUnit, n, func() string { return text })
	}
	call := name
	for _, a := range p.accs {
		if a.base != nil && a.expr.Pos() >= s.Pos() && a.expr.End() <= s.End() {
			call = selectorBase(u, a.base) + "." + name
		}
	}
	es.add(u, u.offset(s.Pos()), u.offset(s.Pos()), func() string { return call + ".Do(func() {\n" })
	es.add(u, u.offset(s.End()), u.offset(s.End()), func() string { return "\n})" })
	files, err := es.files()
	out := &patch{files: files, notes: p.copyNote()}
	if p.t.obj.Exported() {
		out.notes = append(out.notes, fmt.Sprintf("once initialised, %s is not initialised again if other code unsets it", p.t))
	}
	return out, err
}
