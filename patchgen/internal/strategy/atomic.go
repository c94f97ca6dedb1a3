package strategy

import (
	"cmp"
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
	isSet bool   // a package variable is declared with a value, which its functions leave in the declaration
	elem  string // "Int64": suffix of functions, name of the type
	// conv and back convert between the variable's type and that of the
	// atomic value, "" where they are the same.
	conv, back string
	pointee    string // element of atomic.Pointer
	done       map[ast.Expr]bool
	tuples     *tuples // shared by the variables that become atomic together
}

// atomically makes every access of the variable, and of those beside it that race with it, one atomic step: with the
// functions of sync/atomic where some accesses use those already, or the module is for a Go without
// the types, else by giving the field a type of sync/atomic. Refused where single atomic steps
// do not make the code right: a test and what depends on it, a load and a
// store computed from it (unless it is a CompareAndSwap in other words), two variables that belong together.
func atomically(p *Problem) (*Patch, error) {
	w := &atomicWriter{problem: p, edits: edit.New(), tuples: &tuples{}}
	if err := w.admit(); err != nil {
		return nil, err
	}
	// Those beside it that a run has shown to race too.
	writers := []*atomicWriter{w}
	for _, q := range p.beside() {
		if q.isRaced {
			own := *q
			own.Bold = p.Bold
			writers = append(writers, &atomicWriter{problem: &own, edits: w.edits, tuples: w.tuples})
		}
	}
	if err := apart(writers); err != nil {
		return nil, err
	}
	// Each by itself, then the tuples and declarations that they share.
	out := &Patch{Claim: p.claim(validate.Atomic, "", 0)}
	for i, w := range writers {
		if err := w.admit(); err != nil {
			return nil, err
		}
		if err := w.write(); err != nil {
			return nil, err
		}
		if i > 0 {
			out.Claim.Also = append(out.Claim.Also, w.problem.Claimed())
			p.doubts = append(p.doubts, w.problem.doubts...)
		}
	}
	if err := cmp.Or(w.tuples.write(w.edits), declare(writers)); err != nil {
		return nil, err
	}
	if !w.functions {
		out.Notes = p.copyNote()
	}
	var err error
	out.Files, err = w.edits.Files()
	return out, err
}

// admit decides how the variable becomes atomic, or says why it cannot.
func (w *atomicWriter) admit() error {
	p := w.problem
	// Neither contents that change in place nor what a lock makes one step become atomic.
	if p.Variable.Deep {
		return fmt.Errorf("%s is changed in place", p.Variable)
	}
	// Where it is accessed atomically beside the lock, that takes no part already.
	isMixed := slices.ContainsFunc(p.Accesses, func(a *source.Access) bool { return a.Mode == source.Atomic })
	if locks, _ := p.guardingLocks(p.protectable()); len(locks) > 0 && !isMixed {
		return fmt.Errorf("%s guards %s elsewhere: an atomic would take no part in what the lock makes one step",
			source.Short(locks[0]), p.Variable)
	}
	if err := p.inTest(); err != nil {
		return err
	}
	for _, a := range p.protectable() {
		if !a.Mode.Writes() {
			continue
		}
		if err := critsec.ComputedBeside(a.File, p.Variable, a.File.StmtOf(a.Expr)); err != nil {
			return err
		}
		if err := critsec.StartsEarly(a.File, a.File.StmtOf(a.Expr)); err != nil {
			return err
		}
	}
	// Where some accesses use functions of sync/atomic, the others do so too.
	w.isOld = !isMixed && !p.declaredIn().Since("go1.19")
	w.isSet = w.isSetAtOnce()
	w.functions = isMixed || w.isOld || w.isSet
	return w.pick()
}

// write rewrites the accesses. The shapes of a CompareAndSwap come first, the rest is one load, store or add each.
func (w *atomicWriter) write() error {
	w.done = map[ast.Expr]bool{}
	w.swaps()
	w.useResults()
	w.useOneLoad()
	if err := w.steps(); err != nil {
		return err
	}
	for _, a := range w.problem.Accesses {
		if err := w.rewrite(a); err != nil {
			return err
		}
	}
	return nil
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
	if isOther := w.elem == "Bool" || !w.isSet && (isInt || w.conv != ""); w.functions && isOther {
		why := fmt.Errorf("%s has type %s, which sync/atomic's functions do not take", t, obj.Type())
		if w.isOld && !w.isSet {
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
func (w *atomicWriter) swaps() {
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
