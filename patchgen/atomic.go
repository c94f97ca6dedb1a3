package patchgen

import (
	"errors"
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"strconv"
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
	return &patch{files: files}, err
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

// conditionOf gives the if statement whose whole condition tests a alone.
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

// declare gives the variable its new type.
func (w *atomicWriter) declare() error {
	u, id := w.p.declaration()
	if u == nil {
		return fmt.Errorf("the declaration of %s is not in the module", w.p.t)
	}
	typ := w.es.addImport(u, "sync/atomic") + "." + w.elem
	if w.pointee != "" {
		typ += "[" + w.pointee + "]"
	}
	switch n := u.parents[id].(type) {
	case *ast.Field:
		if len(n.Names) != 1 {
			return fmt.Errorf("%s is declared together with others", w.p.t)
		}
		w.es.replace(u, n.Type, typ)
	case *ast.ValueSpec:
		if len(n.Names) != 1 || n.Type == nil || len(n.Values) > 0 {
			return fmt.Errorf("%s is not declared by a plain var", w.p.t)
		}
		w.es.replace(u, n.Type, typ)
	default:
		return errors.New("its declaration has no type of its own")
	}
	return nil
}

// rewrite turns one access into an atomic step.
func (w *atomicWriter) rewrite(a *access) error {
	u := a.unit
	if w.done[a.expr] || a.mode == atomicOp {
		return nil
	}
	if w.functions && (a.mode == initial || a.private() || u.test && !w.p.named(a)) {
		return nil
	}
	if a.whole != a.expr {
		return fmt.Errorf("%s: only a part of it is accessed", u.at(a.expr))
	}
	switch a.mode {
	case read:
		w.es.replace(u, a.expr, w.load(a))
		return nil
	case write:
		return w.store(a)
	case update:
		return w.add(a)
	case initial:
		return w.initialise(a)
	}
	return fmt.Errorf("%s: its address is taken", u.at(a.expr))
}

func (w *atomicWriter) in(v string) string {
	if _, err := strconv.Atoi(v); err == nil || w.conv == "" || v == "true" || v == "false" {
		return v // untyped constants need no conversion
	}
	return w.conv + "(" + v + ")"
}

func (w *atomicWriter) load(a *access) string {
	x := a.unit.text(a.expr)
	if w.functions {
		return fmt.Sprintf("%s.Load%s(&%s)", w.es.addImport(a.unit, "sync/atomic"), w.elem, x)
	}
	if w.back != "" {
		return w.back + "(" + x + ".Load())"
	}
	return x + ".Load()"
}

// call writes a method or function call with one operand.
func (w *atomicWriter) call(a *access, op, v string) string {
	x := a.unit.text(a.expr)
	if w.functions {
		return fmt.Sprintf("%s.%s%s(&%s, %s)", w.es.addImport(a.unit, "sync/atomic"), op, w.elem, x, v)
	}
	return fmt.Sprintf("%s.%s(%s)", x, op, w.in(v))
}

func (w *atomicWriter) store(a *access) error {
	u := a.unit
	s, ok := u.parents[a.expr].(*ast.AssignStmt)
	if !ok || len(s.Lhs) != 1 || len(s.Rhs) != 1 {
		return fmt.Errorf("%s: it is set together with others", u.at(a.expr))
	}
	if w.readsItself(s.Rhs[0], u) {
		return fmt.Errorf("%s: the new value is computed from the old one", u.at(s))
	}
	// Only the ends are replaced: the value may hold accesses of its own.
	w.around(u, s, s.Rhs[0], "Store", "\x00", a)
	return nil
}

// around replaces what stands before and after the value e in s by the parts
// of a call; v is its operand with a NUL where the value stands.
func (w *atomicWriter) around(u *unit, s ast.Stmt, e ast.Expr, op, v string, a *access) {
	if _, isLit := e.(*ast.BasicLit); isLit && v == "\x00" {
		w.es.replace(u, s, w.call(a, op, u.text(e)))
		return
	}
	before, after := splitNUL(w.call(a, op, v))
	w.es.add(u, u.offset(s.Pos()), u.offset(e.Pos()), func() string { return before })
	w.es.add(u, u.offset(e.End()), u.offset(s.End()), func() string { return after })
}

func splitNUL(s string) (before, after string) {
	for i := range len(s) {
		if s[i] == 0 {
			return s[:i], s[i+1:]
		}
	}
	return s, ""
}

func (w *atomicWriter) readsItself(e ast.Expr, u *unit) (found bool) {
	ast.Inspect(e, func(n ast.Node) bool {
		if x, ok := n.(ast.Expr); ok {
			if _, obj := u.varOf(x); obj != nil && objKey(u.m, obj) == w.p.t.key {
				found = true
			}
		}
		return true
	})
	return found
}

func (w *atomicWriter) add(a *access) error {
	u := a.unit
	signed := w.elem == "Int32" || w.elem == "Int64"
	if w.elem == "Bool" || w.elem == "Pointer" {
		return fmt.Errorf("%s: no atomic step does that", u.at(a.expr))
	}
	switch s := u.parents[a.expr].(type) {
	case *ast.IncDecStmt:
		v := "1"
		if s.Tok == token.DEC {
			if v = "-1"; !signed {
				return fmt.Errorf("%s: an unsigned value is counted down", u.at(s))
			}
		}
		w.es.replace(u, s, w.call(a, "Add", v))
		return nil
	case *ast.AssignStmt:
		if w.readsItself(s.Rhs[0], u) {
			return fmt.Errorf("%s: the new value is computed from the old one", u.at(s))
		}
		switch {
		case s.Tok == token.ADD_ASSIGN:
			w.around(u, s, s.Rhs[0], "Add", "\x00", a)
			return nil
		case s.Tok == token.SUB_ASSIGN && signed:
			w.around(u, s, s.Rhs[0], "Add", "-(\x00)", a)
			return nil
		}
	}
	return fmt.Errorf("%s: no atomic step does that", u.at(a.expr))
}

// initialise takes the variable out of a composite literal: zero values go
// away, others are stored after the statement that defines the object.
func (w *atomicWriter) initialise(a *access) error {
	u := a.unit
	kv := u.parents[a.expr].(*ast.KeyValueExpr)
	lit := u.parents[kv].(*ast.CompositeLit)
	if w.functions {
		return nil
	}
	w.dropElement(u, lit, kv)
	if tv := u.pkg.info.Types[kv.Value]; tv.IsNil() || tv.Value != nil && isZero(tv.Value) {
		return nil
	}
	var e ast.Node = lit
	if un, ok := u.parents[lit].(*ast.UnaryExpr); ok && un.Op == token.AND {
		e = un
	}
	s, ok := u.parents[e].(*ast.AssignStmt)
	if !ok || len(s.Lhs) != 1 || listOf(u, s) == nil {
		return fmt.Errorf("%s: it is set in a literal that no statement of its own names", u.at(kv))
	}
	id, ok := s.Lhs[0].(*ast.Ident)
	if !ok {
		return fmt.Errorf("%s: it is set in a literal that no variable holds", u.at(kv))
	}
	text := fmt.Sprintf("%s.%s.Store(%s)", id.Name, w.p.t.name, w.in(u.text(kv.Value)))
	w.es.after(u, s, func() string { return text })
	return nil
}

func isZero(v constant.Value) bool {
	switch v.Kind() {
	case constant.Bool:
		return !constant.BoolVal(v)
	case constant.Int, constant.Float:
		return constant.Sign(v) == 0
	}
	return false
}

// dropElement removes a key and its value with the comma, and the line where
// nothing else stands on it.
func (w *atomicWriter) dropElement(u *unit, lit *ast.CompositeLit, kv *ast.KeyValueExpr) {
	pos, end := u.offset(kv.Pos()), u.offset(kv.End())
	stop := u.offset(lit.Rbrace)
	for i, e := range lit.Elts {
		if e == ast.Expr(kv) && i+1 < len(lit.Elts) && u.line(lit.Elts[i+1].Pos()) == u.line(kv.Pos()) {
			stop = u.offset(lit.Elts[i+1].Pos())
			w.es.add(u, pos, stop, func() string { return "" })
			return
		}
		if e == ast.Expr(kv) && i > 0 && u.line(lit.Elts[i-1].End()) == u.line(kv.Pos()) {
			w.es.add(u, u.offset(lit.Elts[i-1].End()), end, func() string { return "" })
			return
		}
	}
	for end < stop && u.src[end] != '\n' {
		end++
	}
	if end < stop {
		end++
	}
	for pos > 0 && (u.src[pos-1] == ' ' || u.src[pos-1] == '\t') {
		pos--
	}
	w.es.add(u, pos, end, func() string { return "" })
}
