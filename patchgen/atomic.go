package patchgen

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
)

// atomically makes every access of the variable one atomic step: with the
// functions of sync/atomic where some accesses use those already, else by
// giving the field a type of sync/atomic. Refused where single atomic steps
// do not make the code right: a test and what depends on it, a load and a
// store computed from it (unless it is a CompareAndSwap in other words).
func atomically(p *problem) (*patch, error) {
	if p.t.deep {
		return nil, fmt.Errorf("%s is changed in place", p.t)
	}
	if locks := p.guards(p.protectable()); len(locks) > 0 {
		return nil, fmt.Errorf("%s guards %s elsewhere: an atomic would take no part in what the lock makes one step", short(locks[0]), p.t)
	}
	w := &atomicWriter{p: p, es: newEdits()}
	for _, a := range p.accs {
		if a.mode == atomicOp {
			w.functions = true
		}
	}
	if err := w.pick(); err != nil {
		return nil, err
	}
	if err := w.swaps(); err != nil {
		return nil, err
	}
	if err := w.steps(); err != nil {
		return nil, err
	}
	if !w.functions {
		if err := w.declare(); err != nil {
			return nil, err
		}
	}
	for _, a := range p.accs {
		if err := w.rewrite(a); err != nil {
			return nil, err
		}
	}
	files, err := w.es.files()
	out := &patch{files: files}
	if !w.functions {
		out.notes = p.copyNote()
	}
	return out, err
}

// atomicWriter rewrites the accesses of one variable.
type atomicWriter struct {
	p  *problem
	es *edits
	// functions: keep the plain type and use atomic.LoadInt64 and so on.
	functions bool
	elem      string // "Int64": suffix of functions, name of the type
	// conv and back convert between the variable's type and that of the
	// atomic value, "" where they are the same.
	conv, back string
	pointee    string // element of atomic.Pointer
	done       map[ast.Expr]bool
}

var atomicTypes = map[types.BasicKind]struct{ elem, plain string }{
	types.Bool: {"Bool", "bool"}, types.Int32: {"Int32", "int32"}, types.Int64: {"Int64", "int64"},
	types.Uint32: {"Uint32", "uint32"}, types.Uint64: {"Uint64", "uint64"}, types.Uintptr: {"Uintptr", "uintptr"},
	types.Int: {"Int64", "int64"}, types.Uint: {"Uint64", "uint64"},
}

// pick chooses the atomic type, or says why there is none.
func (w *atomicWriter) pick() error {
	t, obj := w.p.t, w.p.t.obj
	basic, isBasic := obj.Type().Underlying().(*types.Basic)
	ptr, isPtr := types.Unalias(obj.Type()).(*types.Pointer)
	switch {
	case isBasic && atomicTypes[basic.Kind()].elem != "":
		kind := atomicTypes[basic.Kind()]
		w.elem = kind.elem
		if obj.Type().String() != kind.plain {
			w.conv, w.back = kind.plain, types.TypeString(obj.Type(), types.RelativeTo(obj.Pkg()))
		}
	case isPtr && !w.functions:
		w.elem, w.pointee = "Pointer", types.TypeString(ptr.Elem(), types.RelativeTo(obj.Pkg()))
	default:
		return fmt.Errorf("%s has type %s, for which there is no atomic type", t, obj.Type())
	}
	if w.functions {
		if w.elem == "Bool" || basic.Kind() == types.Int || basic.Kind() == types.Uint || w.conv != "" {
			return fmt.Errorf("%s has type %s, which sync/atomic's functions do not take", t, obj.Type())
		}
		return nil
	}
	switch {
	case !w.p.declaredIn().since("go1.19"):
		return fmt.Errorf("sync/atomic's types need go 1.19, and the module says %q", w.p.declaredIn().goVer)
	case t.obj.Exported() && (t.owner == nil || t.owner.Obj().Exported()):
		return fmt.Errorf("%s is exported: its type is part of the API", t)
	case !obj.IsField() && !isGlobal(obj):
		return w.local()
	case t.owner == nil && obj.IsField():
		return fmt.Errorf("%s is a field of an unnamed struct", t)
	case t.owner != nil && t.owner.TypeParams().Len() > 0 && w.pointee != "":
		return fmt.Errorf("%s is generic, and the field a pointer", t.owner.Obj().Name())
	}
	if t.owner != nil {
		return w.p.m.noNewField(t.owner, "an atomic")
	}
	return nil
}

// local admits a captured local with a plain `var x T` declaration.
func (w *atomicWriter) local() error {
	u, id := w.p.declaration()
	if u == nil {
		return fmt.Errorf("the declaration of %s is not in the module", w.p.t)
	}
	if spec, ok := u.parents[id].(*ast.ValueSpec); !ok || len(spec.Names) != 1 || len(spec.Values) > 0 {
		return fmt.Errorf("%s is not declared by a plain var", w.p.t)
	}
	return nil
}

// swaps rewrites the two shapes that are a CompareAndSwap in other words:
//
//	if x.f != A { return }; x.f = B        if x.f == A { x.f = B; … }
func (w *atomicWriter) swaps() error {
	w.done = map[ast.Expr]bool{}
	for _, a := range w.p.accs {
		u := a.unit
		s, ok := w.conditionOf(a)
		if !ok || w.functions || u.parents[s] == nil || w.done[a.expr] {
			continue
		}
		equal, old := w.compare(u, s.Cond, a)
		if old == "" {
			continue
		}
		set := w.firstStore(s.Body.List, u)
		negate := "!"
		if equal { // if x.f == A { x.f = B; … }
			negate = ""
		} else {
			list := listOf(u, s)
			set = nil
			for i, other := range list {
				if other == ast.Stmt(s) && i+1 < len(list) && (&cover{u: u}).ends(s.Body.List) {
					set = w.firstStore(list[i+1:i+2], u)
				}
			}
		}
		if set == nil || u.text(set.Lhs[0]) != u.text(a.expr) || s.Init != nil || s.Else != nil {
			continue
		}
		if !isConstant(u, set.Rhs[0]) {
			continue
		}
		w.done[a.expr], w.done[set.Lhs[0]] = true, true
		swap := fmt.Sprintf("%s%s.CompareAndSwap(%s, %s)", negate, u.text(a.expr), w.in(old), w.in(u.text(set.Rhs[0])))
		w.es.replace(u, s.Cond, swap)
		w.es.deleteLine(u, set)
	}
	return nil
}

// conditionOf returns the if statement whose whole condition tests a alone.
func (w *atomicWriter) conditionOf(a *access) (*ast.IfStmt, bool) {
	if a.mode != read || a.whole != a.expr || a.fn == nil {
		return nil, false
	}
	for n := a.unit.parents[a.expr]; n != nil; n = a.unit.parents[n] {
		switch n := n.(type) {
		case *ast.ParenExpr, *ast.UnaryExpr, *ast.BinaryExpr:
		case *ast.IfStmt:
			return n, a.expr.Pos() >= n.Cond.Pos() && a.expr.End() <= n.Cond.End()
		default:
			return nil, false
		}
	}
	return nil, false
}

// compare reads a condition as "x.f equals old" or "x.f differs from old".
func (w *atomicWriter) compare(u *unit, cond ast.Expr, a *access) (equal bool, old string) {
	switch c := ast.Unparen(cond).(type) {
	case *ast.SelectorExpr, *ast.Ident:
		if cond == a.expr { // if x.f {return}: goes on where it is false
			return false, "false"
		}
	case *ast.UnaryExpr:
		if c.Op == token.NOT && ast.Unparen(c.X) == a.expr {
			return true, "false"
		}
	case *ast.BinaryExpr:
		if ast.Unparen(c.X) == a.expr && isConstant(u, c.Y) && (c.Op == token.EQL || c.Op == token.NEQ) {
			return c.Op == token.EQL, u.text(c.Y)
		}
	}
	return false, ""
}

func isConstant(u *unit, e ast.Expr) bool {
	tv := u.pkg.info.Types[e]
	return tv.Value != nil || tv.IsNil()
}

// firstStore is the plain assignment to the variable that a list starts with.
func (w *atomicWriter) firstStore(list []ast.Stmt, u *unit) *ast.AssignStmt {
	if len(list) == 0 {
		return nil
	}
	as, ok := list[0].(*ast.AssignStmt)
	if !ok || as.Tok != token.ASSIGN || len(as.Lhs) != 1 {
		return nil
	}
	if _, obj := u.varOf(as.Lhs[0]); obj == nil || objKey(u.m, obj) != w.p.t.key {
		return nil
	}
	return as
}

// steps refuses functions in which one atomic step after another is not
// enough: a read and a plain store, or a test whose branch changes the object
// or calls its methods.
func (w *atomicWriter) steps() error {
	reads, writes := map[*fn]*access{}, map[*fn]*access{}
	for _, a := range w.p.protectable() {
		if w.done[a.expr] {
			continue
		}
		switch a.mode {
		case read:
			reads[a.fn.decl()] = a
			if err := w.testAndUse(a); err != nil {
				return err
			}
		case write:
			writes[a.fn.decl()] = a
		}
	}
	for f, a := range writes {
		if r := reads[f]; r != nil && a.fn == r.fn {
			return fmt.Errorf("%s reads %s (%s) and sets it (%s): two atomic steps are not one", f.name(), w.p.t, r.unit.at(r.expr), a.unit.at(a.expr))
		}
	}
	return nil
}

func (w *atomicWriter) testAndUse(a *access) error {
	s := enclosingIf(a)
	if s == nil || a.base == nil {
		return nil
	}
	at, ok := a.unit.place(a.base)
	if !ok {
		return nil
	}
	c := &cover{u: a.unit, f: a.fn, base: at.key}
	lists := [][]ast.Stmt{s.Body.List}
	if e, ok := s.Else.(*ast.BlockStmt); ok {
		lists = append(lists, e.List)
	}
	if list := listOf(a.unit, s); c.ends(s.Body.List) {
		for i, other := range list {
			if other == ast.Stmt(s) {
				lists = append(lists, list[i+1:])
			}
		}
	}
	for _, list := range lists {
		for _, st := range list {
			if c.isUse(st) {
				return fmt.Errorf("%s tests %s (%s) and then uses the object (%s): an atomic does not make that one step", a.fn.name(), w.p.t, a.unit.at(a.expr), a.unit.at(st))
			}
		}
	}
	return nil
}

func enclosingIf(a *access) *ast.IfStmt {
	for n := a.unit.parents[a.expr]; n != nil; n = a.unit.parents[n] {
		switch n := n.(type) {
		case *ast.IfStmt:
			if a.expr.Pos() >= n.Cond.Pos() && a.expr.End() <= n.Cond.End() {
				return n
			}
			return nil
		case ast.Stmt:
			return nil
		}
	}
	return nil
}
