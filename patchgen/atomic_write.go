package patchgen

import (
	"errors"
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"strconv"
)

// declare returns the variable its new type.
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
