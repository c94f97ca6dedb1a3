package strategy

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"slices"
	"strconv"

	"github.com/interlock-go/interlock/patchgen/internal/source"
)

// rewrite turns one access into an atomic step.
func (w *atomicWriter) rewrite(a *source.Access) error {
	file := a.File
	if w.done[a.Expr] || a.Mode == source.Atomic {
		return nil
	}
	isAlone := a.Mode == source.Initial || w.problem.Facts.IsPrivate(a) || w.problem.isBeyond(a)
	if w.functions && !w.isRetyped() && isAlone {
		return nil
	}
	if a.Whole != a.Expr {
		return fmt.Errorf("%s: only a part of it is accessed", file.At(a.Expr))
	}
	switch a.Mode {
	case source.Read:
		w.edits.Replace(file, a.Expr, w.load(a))
		return nil
	case source.Write:
		return w.store(a)
	case source.Update:
		return w.add(a)
	case source.Initial:
		return w.initialise(a)
	}
	return fmt.Errorf("%s: its address is taken", file.At(a.Expr))
}

func (w *atomicWriter) converted(v string) string {
	if _, err := strconv.Atoi(v); err == nil || w.conv == "" || v == "true" || v == "false" {
		return v // untyped constants need no conversion
	}
	return w.conv + "(" + v + ")"
}

func (w *atomicWriter) load(a *source.Access) string {
	x := a.File.Text(a.Expr)
	if w.functions {
		text := fmt.Sprintf("%s.Load%s(&%s)", w.edits.AddImport(a.File, "sync/atomic"), w.elem, x)
		if w.isRetyped() {
			text = w.back + "(" + text + ")"
		}
		return text
	}
	if w.back != "" {
		return w.back + "(" + x + ".Load())"
	}
	return x + ".Load()"
}

// call writes a method or function call with one operand.
func (w *atomicWriter) call(a *source.Access, op, v string) string {
	x := a.File.Text(a.Expr)
	if w.functions {
		if w.isRetyped() {
			v = w.converted(v)
		}
		return fmt.Sprintf("%s.%s%s(&%s, %s)", w.edits.AddImport(a.File, "sync/atomic"), op, w.elem, x, v)
	}
	return fmt.Sprintf("%s.%s(%s)", x, op, w.converted(v))
}

func (w *atomicWriter) store(a *source.Access) error {
	file := a.File
	s, ok := file.Parents[a.Expr].(*ast.AssignStmt)
	if ok && len(s.Lhs) > 1 && len(s.Lhs) == len(s.Rhs) && s.Tok == token.ASSIGN {
		value := s.Rhs[slices.Index(s.Lhs, a.Expr)]
		return w.tuples.add(file, s, value, w.call(a, "Store", file.Text(value)))
	}
	if !ok || len(s.Lhs) != 1 || len(s.Rhs) != 1 {
		return fmt.Errorf("%s: it is set together with others", file.At(a.Expr))
	}
	if w.readsItself(s.Rhs[0], file) {
		return fmt.Errorf("%s: the new value is computed from the old one", file.At(s))
	}
	// Only the ends are replaced: the value may hold accesses of its own.
	w.around(file, s, s.Rhs[0], "Store", "\x00", a)
	return nil
}

// around replaces what stands before and after the value e in s by the parts
// of a call; v is its operand with a NUL where the value stands.
func (w *atomicWriter) around(file *source.File, s ast.Stmt, e ast.Expr, op, v string, a *source.Access) {
	if _, isLit := e.(*ast.BasicLit); isLit && v == "\x00" {
		w.edits.Replace(file, s, w.call(a, op, file.Text(e)))
		return
	}
	before, after := splitNUL(w.call(a, op, v))
	w.edits.Add(file, file.Offset(s.Pos()), file.Offset(e.Pos()), func() string { return before })
	w.edits.Add(file, file.Offset(e.End()), file.Offset(s.End()), func() string { return after })
}

func splitNUL(s string) (before, after string) {
	for i := range len(s) {
		if s[i] == 0 {
			return s[:i], s[i+1:]
		}
	}
	return s, ""
}

func (w *atomicWriter) readsItself(e ast.Expr, file *source.File) (found bool) {
	ast.Inspect(e, func(n ast.Node) bool {
		if x, ok := n.(ast.Expr); ok {
			if _, obj := file.VariableOf(x); obj != nil && source.ObjectKey(file.Module, obj) == w.problem.Variable.Key {
				found = true
			}
		}
		return true
	})
	return found
}

func (w *atomicWriter) add(a *source.Access) error {
	file := a.File
	signed := w.elem == "Int32" || w.elem == "Int64"
	if w.elem == "Bool" || w.elem == "Pointer" {
		return fmt.Errorf("%s: no atomic step does that", file.At(a.Expr))
	}
	switch s := file.Parents[a.Expr].(type) {
	// x.f++	becomes	x.f.Add(1)
	case *ast.IncDecStmt:
		v := "1"
		if s.Tok == token.DEC {
			if v = "-1"; !signed {
				return fmt.Errorf("%s: an unsigned value is counted down", file.At(s))
			}
		}
		w.edits.Replace(file, s, w.call(a, "Add", v))
		return nil
	// x.f += v	becomes	x.f.Add(v)
	case *ast.AssignStmt:
		if w.readsItself(s.Rhs[0], file) {
			return fmt.Errorf("%s: the new value is computed from the old one", file.At(s))
		}
		switch {
		case s.Tok == token.ADD_ASSIGN:
			w.around(file, s, s.Rhs[0], "Add", "\x00", a)
			return nil
		case s.Tok == token.SUB_ASSIGN && signed:
			w.around(file, s, s.Rhs[0], "Add", "-(\x00)", a)
			return nil
		}
	}
	return fmt.Errorf("%s: no atomic step does that", file.At(a.Expr))
}

// initialise takes the variable out of a composite literal: zero values go
// away, others are stored after the statement that defines the object.
func (w *atomicWriter) initialise(a *source.Access) error {
	file := a.File
	kv := file.Parents[a.Expr].(*ast.KeyValueExpr)
	lit := file.Parents[kv].(*ast.CompositeLit)
	if w.functions {
		return nil
	}
	w.dropElement(file, lit, kv)
	if tv := file.Package.Info.Types[kv.Value]; tv.IsNil() || tv.Value != nil && isZero(tv.Value) {
		return nil
	}
	var e ast.Node = lit
	if un, ok := file.Parents[lit].(*ast.UnaryExpr); ok && un.Op == token.AND {
		e = un
	}
	s, ok := file.Parents[e].(*ast.AssignStmt)
	if !ok || len(s.Lhs) != 1 || source.ListOf(file, s) == nil {
		return fmt.Errorf("%s: it is set in a literal that no statement of its own names", file.At(kv))
	}
	id, ok := s.Lhs[0].(*ast.Ident)
	if !ok {
		return fmt.Errorf("%s: it is set in a literal that no variable holds", file.At(kv))
	}
	text := fmt.Sprintf("%s.%s.Store(%s)", id.Name, w.problem.Variable.Name, w.converted(file.Text(kv.Value)))
	w.edits.After(file, s, func() string { return text })
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
func (w *atomicWriter) dropElement(file *source.File, lit *ast.CompositeLit, kv *ast.KeyValueExpr) {
	pos, end := file.Offset(kv.Pos()), file.Offset(kv.End())
	stop := file.Offset(lit.Rbrace)
	for i, e := range lit.Elts {
		if e == ast.Expr(kv) && i+1 < len(lit.Elts) && file.Line(lit.Elts[i+1].Pos()) == file.Line(kv.Pos()) {
			stop = file.Offset(lit.Elts[i+1].Pos())
			w.edits.Add(file, pos, stop, func() string { return "" })
			return
		}
		if e == ast.Expr(kv) && i > 0 && file.Line(lit.Elts[i-1].End()) == file.Line(kv.Pos()) {
			w.edits.Add(file, file.Offset(lit.Elts[i-1].End()), end, func() string { return "" })
			return
		}
	}
	for end < stop && file.Source[end] != '\n' {
		end++
	}
	if end < stop {
		end++
	}
	for pos > 0 && (file.Source[pos-1] == ' ' || file.Source[pos-1] == '\t') {
		pos--
	}
	w.edits.Add(file, pos, end, func() string { return "" })
}
