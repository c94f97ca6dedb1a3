package strategy

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/interlock-go/interlock/patchgen/internal/critsec"
	"github.com/interlock-go/interlock/patchgen/internal/edit"
	"github.com/interlock-go/interlock/patchgen/internal/source"
	"github.com/interlock-go/interlock/patchgen/internal/validate"
)

// atomicWriter rewrites the accesses of one variable.
type atomicWriter struct {
	problem *Problem
	edits   *edit.Edits
	// functions: keep the plain type and use atomic.LoadInt64 and so on.
	functions bool
	// isOld: the module's version of Go has no types in sync/atomic.
	isOld bool
	elem  string // "Int64": suffix of functions, name of the type
	// conv and back convert between the variable's type and that of the
	// atomic value, "" where they are the same.
	conv, back string
	pointee    string // element of atomic.Pointer
	done       map[ast.Expr]bool
}

// atomically makes every access of the variable one atomic step: with the
// functions of sync/atomic where some accesses use those already, or the module is for a Go without
// the types, else by giving the field a type of sync/atomic. Refused where single atomic steps
// do not make the code right: a test and what depends on it, a load and a
// store computed from it (unless it is a CompareAndSwap in other words).
func atomically(p *Problem) (*Patch, error) {
	// Neither contents that change in place nor what a lock makes one step become atomic.
	if p.Variable.Deep {
		return nil, fmt.Errorf("%s is changed in place", p.Variable)
	}
	// Where it is accessed atomically beside the lock, that takes no part already.
	isMixed := slices.ContainsFunc(p.Accesses, func(a *source.Access) bool { return a.Mode == source.Atomic })
	if locks, _ := p.guardingLocks(p.protectable()); len(locks) > 0 && !isMixed {
		return nil, fmt.Errorf("%s guards %s elsewhere: an atomic would take no part in what the lock makes one step",
			source.Short(locks[0]), p.Variable)
	}
	if err := p.inTest(); err != nil {
		return nil, err
	}
	for _, a := range p.protectable() {
		if !a.Mode.Writes() {
			continue
		}
		if err := critsec.ComputedBeside(a.File, p.Variable, a.File.StmtOf(a.Expr)); err != nil {
			return nil, err
		}
		if err := critsec.StartsEarly(a.File, a.File.StmtOf(a.Expr)); err != nil {
			return nil, err
		}
	}
	// Where some accesses use functions of sync/atomic, the others do so too.
	isOld := !isMixed && !p.declaredIn().Since("go1.19")
	w := &atomicWriter{problem: p, edits: edit.New(), functions: isMixed || isOld, isOld: isOld}
	// The shapes of a CompareAndSwap are rewritten first, the rest is one load, store or add each.
	if err := w.pick(); err != nil {
		return nil, err
	}
	if err := w.swaps(); err != nil {
		return nil, err
	}
	w.useResults()
	if err := w.steps(); err != nil {
		return nil, err
	}
	if !w.functions {
		if err := w.declare(); err != nil {
			return nil, err
		}
	}
	for _, a := range p.Accesses {
		if err := w.rewrite(a); err != nil {
			return nil, err
		}
	}
	files, err := w.edits.Files()
	out := &Patch{Files: files, Claim: p.claim(validate.Atomic, "", 0)}
	if !w.functions {
		out.Notes = p.copyNote()
	}
	return out, err
}

var atomicTypes = map[types.BasicKind]struct{ elem, plain string }{
	types.Bool: {"Bool", "bool"}, types.Int32: {"Int32", "int32"}, types.Int64: {"Int64", "int64"},
	types.Uint32: {"Uint32", "uint32"}, types.Uint64: {"Uint64", "uint64"}, types.Uintptr: {"Uintptr", "uintptr"},
	types.Int: {"Int64", "int64"}, types.Uint: {"Uint64", "uint64"},
}

// pick chooses the atomic type, or says why there is none.
func (w *atomicWriter) pick() error {
	t, obj := w.problem.Variable, w.problem.Variable.Object
	basic, isBasic := obj.Type().Underlying().(*types.Basic)
	ptr, isPtr := types.Unalias(obj.Type()).(*types.Pointer)
	// The type decides the atomic: int becomes Int64, with conversions.
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
		return NotMeant("%s has type %s, for which there is no atomic type", t, obj.Type())
	}
	// Functions take the plain type as it is.
	isInt := isBasic && (basic.Kind() == types.Int || basic.Kind() == types.Uint)
	if isOther := w.elem == "Bool" || isInt || w.conv != ""; w.functions && isOther {
		why := fmt.Errorf("%s has type %s, which sync/atomic's functions do not take", t, obj.Type())
		if w.isOld {
			return fmt.Errorf("%w, and its types need go 1.19, where the module says %q", why,
				w.problem.declaredIn().GoVersion)
		}
		return NotMeant("%w", why)
	}
	if w.functions {
		return w.byFunctions()
	}
	return w.byType()
}

// byType admits a variable whose declaration can have a type of sync/atomic.
func (w *atomicWriter) byType() error {
	t, obj := w.problem.Variable, w.problem.Variable.Object
	switch {
	case t.Object.Exported() && (t.Owner == nil || t.Owner.Obj().Exported()):
		return fmt.Errorf("%s is exported: its type is part of the API", t)
	case !obj.IsField() && !source.IsGlobal(obj):
		return w.local()
	case t.Owner == nil && obj.IsField():
		return fmt.Errorf("%s is a field of an unnamed struct", t)
	case t.Owner != nil && t.Owner.TypeParams().Len() > 0 && w.pointee != "":
		return fmt.Errorf("%s is generic, and the field a pointer", t.Owner.Obj().Name())
	}
	if t.Owner == nil {
		return nil
	}
	// T{1}: an atomic is set by its Store alone
	if by := w.problem.Module.Positional(t.Owner); len(by) > 0 {
		return fmt.Errorf("the literal at %s lists the fields of %s by position", by[0].At(by[0].CompositeLit),
			t.Owner.Obj().Name())
	}
	return w.problem.Module.NoNewField(t.Owner, "an atomic")
}

// local admits a captured local with a plain `var x T` declaration.
func (w *atomicWriter) local() error {
	file, id := w.problem.declaration()
	if file == nil {
		return fmt.Errorf("the declaration of %s is not in the module", w.problem.Variable)
	}
	if spec, ok := file.Parents[id].(*ast.ValueSpec); !ok || len(spec.Names) != 1 || len(spec.Values) > 0 {
		return fmt.Errorf("%s is not declared by a plain var", w.problem.Variable)
	}
	return nil
}

// swaps rewrites the two shapes that are a CompareAndSwap in other words:
//
//	if x.f != A { return }; x.f = B        if x.f == A { x.f = B; … }
func (w *atomicWriter) swaps() error {
	w.done = map[ast.Expr]bool{}
	for _, a := range w.problem.Accesses {
		file := a.File
		s, ok := w.conditionOf(a)
		if !ok || w.functions || file.Parents[s] == nil || w.done[a.Expr] {
			continue
		}
		equal, old := w.compare(file, s.Cond, a)
		if old == "" {
			continue
		}
		set := w.firstStore(s.Body.List, file)
		negate := "!"
		if equal { // if x.f == A { x.f = B; … }
			negate = ""
		} else {
			list := source.ListOf(file, s)
			set = nil
			for i, other := range list {
				if other == ast.Stmt(s) && i+1 < len(list) && file.Ends(s.Body.List) {
					set = w.firstStore(list[i+1:i+2], file)
				}
			}
		}
		if set == nil || file.Text(set.Lhs[0]) != file.Text(a.Expr) || s.Init != nil || s.Else != nil {
			continue
		}
		if !isConstant(file, set.Rhs[0]) {
			continue
		}
		w.done[a.Expr], w.done[set.Lhs[0]] = true, true
		swap := fmt.Sprintf("%s%s.CompareAndSwap(%s, %s)", negate, file.Text(a.Expr), w.converted(old),
			w.converted(file.Text(set.Rhs[0])))
		w.edits.Replace(file, s.Cond, swap)
		w.edits.DeleteLine(file, set)
	}
	return nil
}

// conditionOf returns the if statement whose whole condition tests a alone.
func (w *atomicWriter) conditionOf(a *source.Access) (*ast.IfStmt, bool) {
	if a.Mode != source.Read || a.Whole != a.Expr || a.Function == nil {
		return nil, false
	}
	for n := a.File.Parents[a.Expr]; n != nil; n = a.File.Parents[n] {
		switch n := n.(type) {
		case *ast.ParenExpr, *ast.UnaryExpr, *ast.BinaryExpr:
		case *ast.IfStmt:
			return n, a.Expr.Pos() >= n.Cond.Pos() && a.Expr.End() <= n.Cond.End()
		default:
			return nil, false
		}
	}
	return nil, false
}

// compare reads a condition as "x.f equals old" or "x.f differs from old".
func (w *atomicWriter) compare(file *source.File, cond ast.Expr, a *source.Access) (equal bool, old string) {
	switch c := ast.Unparen(cond).(type) {
	case *ast.SelectorExpr, *ast.Ident:
		if cond == a.Expr { // if x.f {return}: goes on where it is false
			return false, "false"
		}
	case *ast.UnaryExpr:
		if c.Op == token.NOT && ast.Unparen(c.X) == a.Expr {
			return true, "false"
		}
	case *ast.BinaryExpr:
		if ast.Unparen(c.X) == a.Expr && isConstant(file, c.Y) && (c.Op == token.EQL || c.Op == token.NEQ) {
			return c.Op == token.EQL, file.Text(c.Y)
		}
	}
	return false, ""
}

func isConstant(file *source.File, e ast.Expr) bool {
	tv := file.Package.Info.Types[e]
	return tv.Value != nil || tv.IsNil()
}

// firstStore is the plain assignment to the variable that a list starts with.
func (w *atomicWriter) firstStore(list []ast.Stmt, file *source.File) *ast.AssignStmt {
	if len(list) == 0 {
		return nil
	}
	as, ok := list[0].(*ast.AssignStmt)
	if !ok || as.Tok != token.ASSIGN || len(as.Lhs) != 1 {
		return nil
	}
	if _, obj := file.VariableOf(as.Lhs[0]); obj == nil || source.ObjectKey(file.Module, obj) != w.problem.Variable.Key {
		return nil
	}
	return as
}

// steps refuses functions in which one atomic step after another is not
// enough: a read and a write, or a test whose branch changes the object
// or calls its methods.
func (w *atomicWriter) steps() error {
	reads, writes := map[*source.Function][]*source.Access{}, map[*source.Function][]*source.Access{}
	for _, a := range w.problem.protectable() {
		f := a.Outermost()
		switch {
		case w.done[a.Expr]:
		case a.Mode == source.Read:
			reads[f] = append(reads[f], a)
			if err := w.testAndUse(a); err != nil {
				return err
			}
		case a.Mode.Writes():
			writes[f] = append(writes[f], a)
		}
	}
	for f, written := range writes {
		for _, a := range written {
			for _, r := range reads[f] {
				// A write beside a read is refused though nothing shows that the read decides about it, or is meant to
				// see it: n++; return n. A lock around both makes them one step.
				if a.Function == r.Function && (a.Mode == source.Write || !w.problem.Facts.OneRegion(a, r)) ||
					w.problem.Facts.Decides(r, a) {
					return fmt.Errorf("%s reads %s (%s) and changes it (%s): two atomic steps are not one", f.Name(),
						w.problem.Variable, r.File.At(r.Expr), a.File.At(a.Expr))
				}
			}
		}
	}
	return nil
}

// testAndUse refuses a test of the variable whose branch works on the object:
//
//	if x.f { x.use() }		if x.f { return }; x.use()
func (w *atomicWriter) testAndUse(a *source.Access) error {
	s := enclosingIf(a)
	if s == nil || a.Base == nil {
		return nil
	}
	at, ok := a.File.PathOf(a.Base)
	if !ok {
		return nil
	}
	c := &critsec.Scope{File: a.File, Facts: w.problem.Facts, Function: a.Function, Object: at.Key}
	// The branches, and what follows where the first one leaves.
	lists := [][]ast.Stmt{s.Body.List}
	if e, ok := s.Else.(*ast.BlockStmt); ok {
		lists = append(lists, e.List)
	}
	if list := source.ListOf(a.File, s); a.File.Ends(s.Body.List) {
		for i, other := range list {
			if other == ast.Stmt(s) {
				lists = append(lists, list[i+1:])
			}
		}
	}
	for _, list := range lists {
		for _, st := range list {
			if c.UsesObject(st) {
				return fmt.Errorf("%s tests %s (%s) and then uses the object (%s): an atomic does not make that one step",
					a.Function.Name(), w.problem.Variable, a.File.At(a.Expr), a.File.At(st))
			}
		}
	}
	return nil
}

func enclosingIf(a *source.Access) *ast.IfStmt {
	for n := a.File.Parents[a.Expr]; n != nil; n = a.File.Parents[n] {
		switch n := n.(type) {
		case *ast.IfStmt:
			if a.Expr.Pos() >= n.Cond.Pos() && a.Expr.End() <= n.Cond.End() {
				return n
			}
			return nil
		case ast.Stmt:
			return nil
		}
	}
	return nil
}
