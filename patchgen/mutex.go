package patchgen

import (
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// mutex declares a new mutex beside the variable and takes it at every access
// in the module. A field of a struct that another struct holds by value is
// guarded as part of the outer field: a mutex in the inner struct would be
// copied with it.
func mutex(p *problem) (*patch, error) {
	if p.t.obj.Exported() && (isGlobal(p.t.obj) || p.t.owner != nil && p.t.owner.Obj().Exported()) && !p.nested() {
		return nil, fmt.Errorf("%s is exported: code outside the module would not take a new lock", p.t)
	}
	h, err := p.outermost()
	if err != nil {
		return nil, err
	}
	if err := h.fits(); err != nil {
		return nil, err
	}
	name, err := h.lockName()
	if err != nil {
		return nil, err
	}
	es := newEdits()
	if err := h.declareLock(es, name); err != nil {
		return nil, err
	}
	need := h.protectable()
	if len(need) == 0 {
		return nil, errors.New("no access needs a lock")
	}
	lock := func(a *access) (text, key string, err error) {
		if a.base == nil {
			if a.unit.pkg.path != h.t.obj.Pkg().Path() {
				return "", "", fmt.Errorf("%s: accessed from another package", a.unit.at(a.expr))
			}
			return name, name, nil
		}
		key, ok := a.holder()
		if !ok {
			return "", "", fmt.Errorf("%s: the object is the result of %s", a.unit.at(a.expr), a.unit.text(a.base))
		}
		if a.unit.pkg.path != h.t.obj.Pkg().Path() {
			return "", "", fmt.Errorf("%s: accessed from another package", a.unit.at(a.expr))
		}
		return selectorBase(a.unit, a.base) + "." + name, key + "." + name, nil
	}
	notes, err := h.coverAll(es, need, lock, false, nil)
	if err != nil {
		return nil, err
	}
	files, err := es.files()
	return &patch{files: files, notes: slices.Concat(notes, h.leftOut(), h.copyNote()), claim: &claim{t: h.t, class: h.classOf(name)}}, err
}

// classOf is the lock class of the new mutex.
func (p *problem) classOf(name string) string {
	switch {
	case p.t.owner != nil:
		return ownerName(p.t.owner) + "." + name
	case isGlobal(p.t.obj):
		return p.t.obj.Pkg().Path() + "." + name
	}
	return localClass + name + "@"
}

// leftOut notes accesses in tests, which the patch does not touch.
func (p *problem) leftOut() []string {
	var tests []*access
	for _, a := range p.accs {
		if a.unit.test && a.mode != initial && !p.named(a) {
			tests = append(tests, a)
		}
	}
	if len(tests) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("tests access %s without the lock: %s", p.t, where(tests))}
}

// nested reports whether every access that a finding names reaches the field
// through an outer field of a struct that is held by value.
func (p *problem) nested() bool {
	for e := range p.t.places {
		if outerField(p.unitOf(e), e) == nil {
			return false
		}
	}
	return len(p.t.places) > 0
}

func (p *problem) unitOf(e ast.Expr) *unit {
	return p.m.files[relTo(p.m, e.Pos())]
}

func relTo(m *Module, pos token.Pos) string {
	name := m.fset.PositionFor(pos, false).Filename
	return strings.TrimPrefix(strings.TrimPrefix(slash(name), slash(m.root)), "/")
}

// outerField gives x.stats for x.stats.n, if stats is a struct value.
func outerField(u *unit, e ast.Expr) *ast.SelectorExpr {
	sel, ok := e.(*ast.SelectorExpr)
	if !ok {
		return nil
	}
	outer, ok := ast.Unparen(sel.X).(*ast.SelectorExpr)
	if !ok || u.pkg.info.Selections[outer] == nil || isPointer(u.pkg.info.TypeOf(outer)) {
		return nil
	}
	if s := u.pkg.info.Selections[outer]; s.Kind() != types.FieldVal {
		return nil
	}
	return outer
}

// outermost is the problem of the outermost field that holds the variable by
// value, the same for all accesses that findings name; p itself if there is
// none.
func (p *problem) outermost() (*problem, error) {
	if p.t.owner == nil || !p.nested() {
		return p, nil
	}
	var t *target
	places := map[ast.Expr]bool{}
	for e := range p.t.places {
		u := p.unitOf(e)
		outer := outerField(u, e)
		for next := outerField(u, outer); next != nil; next = outerField(u, outer) {
			outer = next
		}
		obj := u.pkg.info.Uses[outer.Sel].(*types.Var)
		if t != nil && t.key != objKey(p.m, obj) {
			return nil, fmt.Errorf("%s is held by value in several structs", p.t)
		}
		t = p.m.newTarget(obj, u, outer)
		places[outer] = true
	}
	t.places = places
	return &problem{m: p.m, t: t, group: p.group, accs: p.m.accesses(t)}, nil
}

// fits refuses variables that a lock beside them cannot protect.
func (p *problem) fits() error {
	t := p.t
	if t.owner != nil {
		if t.obj.Exported() && t.owner.Obj().Exported() {
			return fmt.Errorf("%s is exported: code outside the module would not take a new lock", t)
		}
		if err := p.m.noNewField(t.owner, "a lock"); err != nil {
			return err
		}
	} else if t.obj.IsField() {
		return fmt.Errorf("%s is a field of an unnamed struct", t)
	}
	for _, a := range p.accs {
		if a.mode == atomicOp {
			return fmt.Errorf("%s is accessed atomically at %s: a lock would not exclude that", t, a.unit.at(a.expr))
		}
	}
	return nil
}

func (m *Module) at(n ast.Node) string {
	if u := m.files[relTo(m, n.Pos())]; u != nil {
		return u.at(n)
	}
	return "elsewhere"
}

// lockName is free in the struct or scope where the lock goes.
func (p *problem) lockName() (string, error) {
	name := lowerFirst(p.t.name) + "Mu"
	taken := false
	switch {
	case p.t.owner != nil:
		obj, _, _ := types.LookupFieldOrMethod(types.NewPointer(p.t.owner), true, p.t.obj.Pkg(), name)
		taken = obj != nil
	case isGlobal(p.t.obj):
		taken = p.t.obj.Pkg().Scope().Lookup(name) != nil
	default:
		taken = usedNames(p.t.fn)[name]
	}
	if taken {
		return "", fmt.Errorf("the name %s is taken", name)
	}
	return name, nil
}

// declareLock writes the declaration: before the field, package variable or
// local that it guards. A mutex is eight bytes, so it does not disturb the
// alignment of what follows.
func (p *problem) declareLock(es *edits, name string) error {
	u, id := p.declaration()
	if u == nil {
		return fmt.Errorf("the declaration of %s is not in the module", p.t)
	}
	pkg := es.addImport(u, "sync")
	guards := " // guards " + p.t.name
	switch n := p.declNode(u, id).(type) {
	case *ast.Field:
		if p.t.fn == nil {
			es.before(u, documented(n, n.Doc), func() string { return name + " " + pkg + ".Mutex" + guards })
			return nil
		}
		first := p.t.fn.body.List[0] // a parameter
		es.before(u, first, func() string { return "var " + name + " " + pkg + ".Mutex" + guards })
	case *ast.GenDecl:
		es.before(u, documented(n, n.Doc), func() string { return "var " + name + " " + pkg + ".Mutex" + guards + "\n" })
	case *ast.ValueSpec:
		es.before(u, documented(n, n.Doc), func() string { return name + " " + pkg + ".Mutex" + guards })
	case ast.Stmt:
		es.before(u, n, func() string { return "var " + name + " " + pkg + ".Mutex" + guards })
	default:
		return fmt.Errorf("cannot place a lock beside %s", p.t)
	}
	return nil
}

// documented returns the doc comment of a declaration, or the declaration.
func documented(n ast.Node, doc *ast.CommentGroup) ast.Node {
	if doc != nil {
		return doc
	}
	return n
}

// declaration finds the identifier that declares the variable.
func (p *problem) declaration() (*unit, *ast.Ident) {
	for _, q := range p.m.pkgs {
		for _, u := range q.units {
			var found *ast.Ident
			ast.Inspect(u.file, func(n ast.Node) bool {
				if id, ok := n.(*ast.Ident); ok && id.Name == p.t.name && u.pkg.info.Defs[id] != nil && objKey(p.m, u.pkg.info.Defs[id]) == p.t.key {
					found = id
				}
				return found == nil
			})
			if found != nil {
				return u, found
			}
		}
	}
	return nil, nil
}

// declNode is what the lock's declaration goes before.
func (p *problem) declNode(u *unit, id *ast.Ident) ast.Node {
	for n := u.parents[id]; n != nil; n = u.parents[n] {
		switch n := n.(type) {
		case *ast.Field:
			return n
		case *ast.ValueSpec:
			if decl, ok := u.parents[n].(*ast.GenDecl); ok {
				if _, local := u.parents[decl].(*ast.DeclStmt); local {
					continue
				}
				if !decl.Lparen.IsValid() {
					return decl
				}
			}
			return n
		case ast.Stmt:
			switch u.parents[n].(type) {
			case *ast.BlockStmt, *ast.CaseClause, *ast.CommClause:
				return n
			}
		}
	}
	return nil
}
