package patchgen

import (
	"errors"
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"
)

// reorder initialises before publishing: an assignment that the started
// goroutine makes first thing, or that its starter makes after the go
// statement, moves before it.
func reorder(p *problem) (*patch, error) {
	var reasons []string
	for _, a := range p.accs {
		if a.mode != write || a.unit.test || a.fn == nil || a.private() {
			continue
		}
		out, err := p.moveUp(a)
		if err == nil {
			return out, nil
		}
		if !errors.Is(err, errNoGo) {
			reasons = append(reasons, err.Error())
		}
	}
	if len(reasons) == 0 {
		reasons = append(reasons, fmt.Sprintf("no assignment of %s could move before a go statement", p.t))
	}
	return nil, errors.New(strings.Join(reasons, "; "))
}

var errNoGo = errors.New("no go statement")

func (p *problem) moveUp(a *access) (*patch, error) {
	s, ok := a.unit.parents[a.expr].(*ast.AssignStmt)
	if !ok || len(s.Lhs) != 1 || len(s.Rhs) != 1 || a.whole != a.expr {
		return nil, errNoGo
	}
	if err := p.onlyWrite(a); err != nil {
		return nil, err
	}
	if out, err := p.fromStarted(a, s); err == nil || !errors.Is(err, errNoGo) {
		return out, err
	}
	return p.fromStarter(a, s)
}

// onlyWrite refuses variables that are written elsewhere too: ordering one
// write would leave the others.
func (p *problem) onlyWrite(a *access) error {
	for _, o := range p.protectable() {
		if o != a && o.mode.writes() {
			return fmt.Errorf("%s is written at %s too", p.t, o.unit.at(o.expr))
		}
		if o.mode == address {
			return fmt.Errorf("the address of %s is taken at %s", p.t, o.unit.at(o.expr))
		}
	}
	return nil
}

// fromStarted moves a leading assignment of a goroutine's function before the
// statements that start it.
func (p *problem) fromStarted(a *access, s *ast.AssignStmt) (*patch, error) {
	f := a.fn
	if !leading(f, s) {
		return nil, errNoGo
	}
	starts, err := p.starts(f)
	if err != nil {
		return nil, err
	}
	if why := a.unit.blocks(s.Rhs[0]); why != "" {
		return nil, fmt.Errorf("%s: the value %s", a.unit.at(s), why)
	}
	es := newEdits()
	whole := es.cut(a.unit, s)
	for _, site := range starts {
		text, err := p.inStarter(f, site, s)
		if err != nil {
			return nil, err
		}
		text = strings.Replace(whole, a.unit.text(s), text, 1) // with its comments
		es.before(site.in.unit, p.publication(site), func() string { return text })
	}
	files, err := es.files()
	return &patch{files: files}, err
}

// leading reports whether only assignments like it stand before s in f.
func leading(f *fn, s ast.Stmt) bool {
	for _, other := range f.body.List {
		if other == s {
			return true
		}
		if as, ok := other.(*ast.AssignStmt); !ok || f.unit.blocks(as) != "" {
			return false
		}
	}
	return false
}

// starts lists the go statements that run f; all its calls have to be such.
func (p *problem) starts(f *fn) ([]callSite, error) {
	if lit, ok := f.node.(*ast.FuncLit); ok {
		call, isCall := f.unit.parents[lit].(*ast.CallExpr)
		if !isCall || call.Fun != ast.Expr(lit) {
			return nil, errNoGo
		}
		if _, isGo := f.unit.parents[call].(*ast.GoStmt); !isGo {
			return nil, errNoGo
		}
		return []callSite{{in: f.outer, call: call}}, nil
	}
	fl := p.m.lockFlow()
	name := f.obj.FullName()
	sites := fl.calls[name]
	gos := 0
	for _, site := range sites {
		if _, isGo := site.in.unit.parents[site.call].(*ast.GoStmt); isGo {
			gos++
		}
	}
	switch {
	case gos == 0:
		return nil, errNoGo
	case gos < len(sites) || fl.values[name]:
		return nil, fmt.Errorf("%s also runs without a go statement", f.name())
	case f.obj.Exported() && exportedReceiver(f):
		return nil, fmt.Errorf("%s is exported: code outside the module may start it", f.name())
	}
	return sites, nil
}

func exportedReceiver(f *fn) bool {
	if f.recv == nil {
		return true
	}
	n := named(f.obj.Signature().Recv().Type())
	return n != nil && n.Obj().Exported()
}

// inStarter writes the assignment in the starter's terms.
func (p *problem) inStarter(f *fn, site callSite, s *ast.AssignStmt) (string, error) {
	u := f.unit
	args, params := f.arguments(site.call), f.params()
	if args == nil && len(params) > 0 {
		return "", fmt.Errorf("%s: arguments and parameters do not correspond", site.in.unit.at(site.call))
	}
	type swap struct {
		id   *ast.Ident
		text string
	}
	var swaps []swap
	var err error
	ast.Inspect(s, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok || err != nil {
			return true
		}
		obj := u.pkg.info.ObjectOf(id)
		v, isVar := obj.(*types.Var)
		switch i := slices.Index(params, obj); {
		case !isVar || v.IsField() || isGlobal(v):
			if site.in.unit.pkg.path != u.pkg.path && obj != nil && obj.Parent() != types.Universe {
				err = fmt.Errorf("%s is started from another package", f.name())
			}
		case i >= 0:
			if _, pure := site.in.unit.place(args[i]); !pure {
				err = fmt.Errorf("%s: the argument %s may differ the second time", site.in.unit.at(args[i]), site.in.unit.text(args[i]))
			}
			swaps = append(swaps, swap{id, strings.TrimPrefix(site.in.unit.text(args[i]), "&")})
		case f.outer != nil && p.m.declaring(u, v) != f: // captured: the same there
		default:
			err = fmt.Errorf("%s: the value depends on %s, which the goroutine computes", u.at(id), id.Name)
		}
		return true
	})
	if err != nil {
		return "", err
	}
	text, start := u.text(s), u.offset(s.Pos())
	for _, sw := range slices.Backward(swaps) {
		from := u.offset(sw.id.Pos()) - start
		text = text[:from] + sw.text + text[from+len(sw.id.Name):]
	}
	return text, nil
}

// publication is the statement before which the assignment goes: the one that
// first hands the object on after it was made, else the go statement.
func (p *problem) publication(site callSite) ast.Stmt {
	u := site.in.unit
	c := &cover{u: u, f: site.in}
	goStmt := c.stmtOf(site.call)
	list := listOf(u, goStmt)
	var root types.Object
	if sel, ok := ast.Unparen(site.call.Fun).(*ast.SelectorExpr); ok {
		root, _ = u.rootOf(sel.X)
	}
	if root == nil || !u.allocated(root) {
		return goStmt
	}
	defined := false
	for _, s := range list {
		if s == goStmt {
			break
		}
		if s.Pos() <= root.Pos() && root.Pos() < s.End() {
			defined = true
			continue
		}
		if defined && u.hands(s, root) && !p.laterNames(site, s, u) {
			return s
		}
	}
	return goStmt
}

// laterNames reports whether an argument of the start is defined at or after
// s, so that the assignment cannot stand before it.
func (p *problem) laterNames(site callSite, s ast.Stmt, u *unit) (found bool) {
	ast.Inspect(site.call, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			if obj := u.pkg.info.ObjectOf(id); obj != nil && obj.Pos() >= s.Pos() && obj.Pos() < site.call.Pos() {
				found = true
			}
		}
		return true
	})
	return found
}

// hands reports whether s hands the object of a local on.
func (u *unit) hands(s ast.Stmt, obj types.Object) (found bool) {
	ast.Inspect(s, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && u.pkg.info.Uses[id] == obj {
			found = found || u.escaping(id)
		}
		return true
	})
	return found
}

// listOf is the statement list that holds s.
func listOf(u *unit, s ast.Stmt) []ast.Stmt {
	switch p := u.parents[s].(type) {
	case *ast.BlockStmt:
		return p.List
	case *ast.CaseClause:
		return p.Body
	case *ast.CommClause:
		return p.Body
	}
	return nil
}

// fromStarter moves an assignment that follows a go statement before it.
func (p *problem) fromStarter(a *access, s *ast.AssignStmt) (*patch, error) {
	u := a.unit
	list := listOf(u, s)
	at := slices.Index(list, ast.Stmt(s))
	from := -1
	for i := range max(at, 0) {
		if _, ok := list[i].(*ast.GoStmt); ok && p.mentions(u, list[i], a) {
			from = i
			break
		}
	}
	if from < 0 {
		return nil, errNoGo
	}
	if err := p.othersIn(list[from].(*ast.GoStmt), u, a); err != nil {
		return nil, err
	}
	if why := u.blocks(s.Rhs[0]); why != "" {
		return nil, fmt.Errorf("%s: the value %s", u.at(s), why)
	}
	for _, between := range list[from+1 : at] {
		if err := p.independent(u, s, between); err != nil {
			return nil, err
		}
	}
	es := newEdits()
	text := es.cut(u, s)
	es.before(u, list[from], func() string { return text })
	files, err := es.files()
	return &patch{files: files}, err
}

// othersIn refuses where an access that a finding names is not made by the
// started goroutine: the go statement would not order it after the write.
func (p *problem) othersIn(s *ast.GoStmt, u *unit, w *access) error {
	start := u.callee(s.Call)
	if lit, ok := s.Call.Fun.(*ast.FuncLit); ok {
		start = u.m.fns[lit]
	}
	if start == nil {
		return fmt.Errorf("%s: what it starts is not known", u.at(s))
	}
	for _, a := range p.accs {
		if a == w || !p.named(a) {
			continue
		}
		in := false
		for f := a.fn; f != nil && !in; f = f.outer {
			in = start.reaches(f, map[*fn]bool{})
		}
		if !in {
			return fmt.Errorf("%s is not accessed by the goroutine that %s starts", a.unit.at(a.expr), u.at(s))
		}
	}
	return nil
}

// mentions reports whether a go statement names the object of the access, or
// the local itself.
func (p *problem) mentions(u *unit, s ast.Stmt, a *access) (found bool) {
	var root types.Object = p.t.obj
	if a.base != nil {
		root, _ = u.rootOf(a.base)
	}
	ast.Inspect(s, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && root != nil && u.pkg.info.Uses[id] != nil && objKey(p.m, u.pkg.info.Uses[id]) == objKey(p.m, root) {
			found = true
		}
		return true
	})
	return found
}

// independent refuses to move s over a statement that sets what s uses, or
// uses what s sets.
func (p *problem) independent(u *unit, s *ast.AssignStmt, between ast.Stmt) (err error) {
	used := map[types.Object]bool{}
	calls := false
	ast.Inspect(s, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			if obj := u.pkg.info.ObjectOf(n); obj != nil {
				used[obj] = true
			}
		case *ast.CallExpr:
			if tv := u.pkg.info.Types[n.Fun]; !tv.IsType() && !tv.IsBuiltin() {
				calls = true
			}
		}
		return true
	})
	ast.Inspect(between, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, lhs := range n.Lhs {
				if _, obj := u.varOf(lhs); obj != nil && used[obj] {
					err = fmt.Errorf("%s: %s is set between the go statement and the assignment", u.at(n), obj.Name())
				}
			}
		case *ast.CallExpr:
			if tv := u.pkg.info.Types[n.Fun]; calls && !tv.IsType() && !tv.IsBuiltin() {
				err = fmt.Errorf("%s: the value depends on a call that may not move over another", u.at(n))
			}
		case *ast.Ident:
			if obj := u.pkg.info.Uses[n]; obj != nil && objKey(p.m, obj) == p.t.key {
				err = fmt.Errorf("%s: %s is used before it is assigned", u.at(n), p.t)
			}
		}
		return true
	})
	return err
}
