package patchgen

import (
	"fmt"
	"go/ast"
	"go/types"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/analyzers/finding"
)

// problem is one variable to protect, with what every strategy needs to know.
type problem struct {
	m     *Module
	t     *target
	group []*finding.Finding
	accs  []*access // all accesses of the variable in the module
	// patched: the module holds other patches, one of which may have put the
	// variable under its lock already.
	patched bool
}

// patch is a candidate: new files, and what a reader should know.
type patch struct {
	files map[string][]byte
	notes []string
	claim *claim // for the strategies that take a lock
}

func newProblem(m *Module, group []*finding.Finding) (*problem, error) {
	t, err := m.resolve(group)
	if err != nil {
		return nil, err
	}
	return &problem{m: m, t: t, group: group, accs: m.accesses(t)}, nil
}

// named reports whether a finding names the access.
func (p *problem) named(a *access) bool {
	for e := range p.t.places {
		if e == a.expr {
			return true
		}
	}
	return false
}

// protectable lists the accesses that a lock has to cover: not those of
// objects that nobody else can reach yet, not initial values, not those in
// tests unless a finding names them.
func (p *problem) protectable() []*access {
	var out []*access
	for _, a := range p.accs {
		switch {
		case a.mode == initial, a.fn == nil:
		case a.unit.test && !p.named(a):
		case isGlobal(p.t.obj) && a.fn.decl().isInit():
		case a.private():
		case p.t.fn != nil && !p.captured(a):
		default:
			out = append(out, a)
		}
	}
	return out
}

func (f *fn) isInit() bool {
	d, ok := f.node.(*ast.FuncDecl)
	return ok && d.Recv == nil && d.Name.Name == "init"
}

// captured reports whether a local is accessed where a closure may run at the
// same time: in a closure, or after the first one that uses it.
func (p *problem) captured(a *access) bool {
	if a.fn != p.t.fn {
		return true
	}
	for _, other := range p.accs {
		if other.fn != p.t.fn && other.fn != nil {
			lit := other.fn
			for lit.outer != nil && lit.outer != p.t.fn {
				lit = lit.outer
			}
			if lit.node.Pos() < a.expr.Pos() || p.m.inLoopWith(lit.node, a) {
				return true
			}
		}
	}
	return false
}

// inLoopWith reports whether one loop within the function holds both.
func (m *Module) inLoopWith(n ast.Node, a *access) bool {
	u := a.unit
	for p := u.parents[a.expr]; p != nil && p != a.fn.node; p = u.parents[p] {
		switch p.(type) {
		case *ast.ForStmt, *ast.RangeStmt:
			if p.Pos() <= n.Pos() && n.End() <= p.End() {
				return true
			}
		}
	}
	return false
}

// heldAt returns the locks that are certainly held at a.
func (p *problem) heldAt(a *access) holds { return p.m.lockFlow().at(a.fn, a.expr).must }

// declaredIn is the package that declares the variable.
func (p *problem) declaredIn() *pkg {
	for _, q := range p.m.pkgs {
		if q.path == p.t.obj.Pkg().Path() {
			return q
		}
	}
	return &pkg{}
}

// where returns where accesses are, for notes and reasons: at most three places.
func where(accs []*access) string {
	var out []string
	for i, a := range accs {
		if i == 3 {
			out = append(out, fmt.Sprintf("and %d more", len(accs)-3))
			break
		}
		out = append(out, a.unit.at(a.expr))
	}
	return strings.Join(out, ", ")
}

// lockFor returns which lock protects an access, as source and as place.
type lockFor func(a *access) (text, key string, err error)

// coverAll puts every one of the accesses under its lock, with the accesses
// of other variables under that lock that belong to them.
func (p *problem) coverAll(es *edits, accs []*access, lock lockFor, rw bool, others *company) (notes []string, err error) {
	type job struct {
		f    *fn
		text string
	}
	jobs := map[job]*cover{}
	var order []*cover
	for _, a := range accs {
		text, key, err := lock(a)
		if err != nil {
			return nil, err
		}
		f := a.outermost()
		j := job{f, text}
		c := jobs[j]
		if c == nil {
			c = &cover{u: f.unit, f: f, es: es, t: p.t, lock: text, key: key, rw: rw, acc: map[ast.Expr]*access{}}
			if a.base != nil {
				if at, ok := a.unit.place(a.base); ok {
					c.base = at.key
				}
			}
			jobs[j] = c
			order = append(order, c)
		}
		c.acc[a.expr] = a
	}
	if err := sharedStatement(order); err != nil {
		return nil, err
	}
	takes := p.m.takers(order)
	for _, c := range order {
		c.takes = takes
		if others != nil {
			others.joinIn(c)
		}
		split, err := c.together()
		if err != nil {
			return nil, err
		}
		if (c.split() || len(split) > 0) && p.wantsOneStep(c) {
			return nil, fmt.Errorf("%s: the load and the store that depends on it cannot be one region", c.f.name())
		}
		if c.split() && len(split) == 0 {
			split = []string{fmt.Sprintf("%s (%s): a read and a later write of %s are two steps, as they were; neither depends on the other", c.f.name(), c.u.path, p.t)}
		}
		slices.Sort(split)
		notes = append(notes, slices.Compact(split)...)
	}
	return notes, nil
}

// takers returns the declared functions that lead, through calls of the module,
// to one of those that get regions. What they start by go does not count.
func (m *Module) takers(covers []*cover) map[*fn]bool {
	callers := map[*fn][]*fn{}
	for _, f := range m.decls {
		ast.Inspect(f.body, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt:
				return false
			case *ast.CallExpr:
				if callee := f.unit.callee(n); callee != nil {
					callers[callee] = append(callers[callee], f)
				}
			}
			return true
		})
	}
	out := map[*fn]bool{}
	var add func(f *fn)
	add = func(f *fn) {
		if !out[f] {
			out[f] = true
			for _, caller := range callers[f] {
				add(caller)
			}
		}
	}
	for _, c := range covers {
		add(c.f.decl())
	}
	return out
}

// wantsOneStep reports whether an atomicity finding is about this function.
func (p *problem) wantsOneStep(c *cover) bool {
	for _, f := range p.group {
		if f.Code != finding.LoadAndStore && f.Section == nil {
			continue
		}
		for _, a := range c.acc {
			if p.named(a) {
				return true
			}
		}
	}
	return false
}

// sharedStatement refuses functions where one statement accesses the variable
// of two objects: their locks would nest.
func sharedStatement(covers []*cover) error {
	seen := map[ast.Stmt]*cover{}
	for _, c := range covers {
		for _, a := range c.acc {
			s := c.stmtOf(a.expr)
			if other := seen[s]; other != nil && other != c {
				return fmt.Errorf("%s: one statement accesses the variable of two objects", c.u.at(s))
			}
			seen[s] = c
		}
	}
	return nil
}

// unseen refuses variables whose name occurs in files of their package that
// were not loaded: those for other systems, and files that cgo rewrites.
func (p *problem) unseen() error {
	word := regexp.MustCompile(`\b` + regexp.QuoteMeta(p.t.name) + `\b`)
	for _, name := range p.declaredIn().ignored {
		if src, err := os.ReadFile(name); err == nil && strings.HasSuffix(name, ".go") && word.Match(src) {
			return fmt.Errorf("%s may be accessed in %s, which this build leaves out or generates", p.t, filepath.Base(name))
		}
	}
	return nil
}

// noNewField returns why a struct type cannot get a lock or atomic as a field:
// values of it are copied, or literals list its fields by position.
func (m *Module) noNewField(owner *types.Named, what string) error {
	if n := m.copied(owner); n != nil {
		return fmt.Errorf("values of %s are copied (%s), and %s in it must not be", owner.Obj().Name(), m.at(n), what)
	}
	for _, p := range m.pkgs {
		for _, u := range p.units {
			var found ast.Node
			ast.Inspect(u.file, func(n ast.Node) bool {
				lit, ok := n.(*ast.CompositeLit)
				if ok && len(lit.Elts) > 0 && sameNamed(named(u.pkg.info.TypeOf(lit)), owner) {
					if _, keyed := lit.Elts[0].(*ast.KeyValueExpr); !keyed {
						found = lit
					}
				}
				return found == nil
			})
			if found != nil {
				return fmt.Errorf("the literal at %s lists the fields of %s by position", u.at(found), owner.Obj().Name())
			}
		}
	}
	return nil
}

// copyNote tells the reader of a patch that adds a lock or an atomic to an
// exported struct without one that its values must not be copied any more.
func (p *problem) copyNote() []string {
	owner := p.t.owner
	if owner == nil || !owner.Obj().Exported() || holdsLock(owner, map[types.Type]bool{}) {
		return nil
	}
	return []string{fmt.Sprintf("%s is exported: values of it must not be copied any more, and code outside the module may do so", owner.Obj().Name())}
}

// holdsLock reports whether copying a value of t copies a lock.
func holdsLock(t types.Type, seen map[types.Type]bool) bool {
	if seen[t] || isPointer(t) {
		return false
	}
	seen[t] = true
	if _, isInterface := t.Underlying().(*types.Interface); !isInterface && lockable(t) {
		return true
	}
	if n := named(t); n != nil && n.Obj().Pkg() != nil && (n.Obj().Pkg().Path() == "sync" || n.Obj().Pkg().Path() == "sync/atomic") {
		return true
	}
	st, ok := t.Underlying().(*types.Struct)
	for i := 0; ok && i < st.NumFields(); i++ {
		if holdsLock(st.Field(i).Type(), seen) {
			return true
		}
	}
	return false
}

// copied finds a place where a value of the struct type is copied; a lock or
// an atomic in it would be copied too. nil if there is none.
func (m *Module) copied(owner *types.Named) ast.Node {
	var found ast.Node
	for _, p := range m.pkgs {
		for _, u := range p.units {
			ast.Inspect(u.file, func(n ast.Node) bool {
				e, ok := n.(ast.Expr)
				if !ok || found != nil {
					return found == nil
				}
				tv, ok := u.pkg.info.Types[e]
				if !ok || !tv.IsValue() || named(tv.Type) != owner.Origin() && !sameNamed(named(tv.Type), owner) || isPointer(tv.Type) {
					return true
				}
				if u.copies(e) {
					found = e
				}
				return true
			})
			if found == nil {
				found = u.byValue(owner)
			}
		}
	}
	return found
}

// sameNamed compares types across the variants of a package.
func sameNamed(a, b *types.Named) bool {
	return a != nil && b != nil && a.Obj().Pkg() != nil && b.Obj().Pkg() != nil &&
		a.Obj().Name() == b.Obj().Name() && a.Obj().Pkg().Path() == b.Obj().Pkg().Path()
}

// copies reports whether the struct value e is copied where it stands.
func (u *unit) copies(e ast.Expr) bool {
	switch ast.Unparen(e).(type) {
	case *ast.CompositeLit, *ast.CallExpr:
		return false // a new value: the callee's return statement counts
	}
	switch p := u.parents[e].(type) {
	case *ast.SelectorExpr, *ast.UnaryExpr, *ast.IndexExpr, *ast.ParenExpr, *ast.BinaryExpr, *ast.Field, *ast.StarExpr:
		return false
	case *ast.AssignStmt:
		return slices.Contains(p.Rhs, e)
	case *ast.ValueSpec:
		return slices.Contains(p.Values, e)
	case *ast.RangeStmt:
		return p.Value == e
	case *ast.ReturnStmt, *ast.CallExpr, *ast.KeyValueExpr, *ast.CompositeLit, *ast.SendStmt:
		return true
	}
	return false
}

// byValue finds a receiver, parameter or result of the struct type itself.
func (u *unit) byValue(owner *types.Named) (found ast.Node) {
	ast.Inspect(u.file, func(n ast.Node) bool {
		var lists []*ast.FieldList
		switch n := n.(type) {
		case *ast.FuncDecl:
			lists = append(lists, n.Recv, n.Type.Params, n.Type.Results)
		case *ast.FuncLit:
			lists = append(lists, n.Type.Params, n.Type.Results)
		}
		for _, l := range lists {
			if l == nil {
				continue
			}
			for _, f := range l.List {
				t := u.pkg.info.TypeOf(f.Type)
				if t != nil && !isPointer(t) && sameNamed(named(t), owner) && found == nil {
					found = f
				}
			}
		}
		return true
	})
	return found
}
