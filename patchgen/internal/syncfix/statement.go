package syncfix

import (
	"errors"
	"fmt"
	"go/ast"
	"go/types"
	"slices"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/patchgen/internal/source"
)

// lockOpOf returns the operation of a statement that is nothing but one on a lock.
func lockOpOf(file *source.File, stmt ast.Stmt) (op source.LockOp, ok bool) {
	es, isExpr := stmt.(*ast.ExprStmt)
	if !isExpr {
		return op, false
	}
	call, isCall := es.X.(*ast.CallExpr)
	if !isCall {
		return op, false
	}
	op, ok = file.LockOp(call)
	return op, ok && !op.Try
}

// lockHeldAt returns the operation that took the lock which is held at the place of an access. A finding on several
// places of a function may name several Locks: of two objects, or of both sides of one lock. Which of them is meant
// the access says by its own locks.
func (p *Problem) lockHeldAt(f *finding.Finding, held finding.Access) (op source.LockOp, err error) {
	// Where a lock is taken none is held. Only the first access has to say so.
	isTaking := func(a finding.Access) bool {
		return (a.Mode == finding.Lock || a.Mode == finding.ReadLock) && len(a.Locks) == 0 &&
			a.Position != held.Position && a.Position != f.Accesses[0].Position
	}
	isBeside := func(a finding.Access) bool { return a.Function == held.Function && a.File == held.File }
	// Those of other functions wait for it, unless it is taken in a callee.
	isOwn := slices.ContainsFunc(f.Accesses, func(a finding.Access) bool { return isTaking(a) && isBeside(a) })
	var taken []source.LockOp
	several, named := false, -1
	for _, a := range f.Accesses {
		if !isTaking(a) || isOwn && !isBeside(a) {
			continue
		}
		at, err := p.at(a.Position)
		if err != nil {
			return op, err
		}
		next, ok := lockTakenAt(at)
		if !ok {
			return op, fmt.Errorf("%s: no statement that takes the lock stands there", a.Position)
		}
		name := at.file.Text(next.Expr)
		if next.Read {
			name += " (read)"
		}
		if slices.Contains(held.Locks, name) {
			named = len(taken)
		}
		taken = append(taken, next)
		several = several || next.Path.Key != taken[0].Path.Key || next.Read != taken[0].Read
	}
	switch {
	case len(taken) == 0:
		return op, errors.New("the finding does not name where the lock is taken")
	case !several:
		return taken[0], nil
	case named < 0:
		return op, fmt.Errorf("%s: which of several locks is held here is not known", held.Position)
	}
	return taken[named], nil
}

// lockTakenAt returns the operation of the statement x.mu.Lock() at a place; TryLock is none.
func lockTakenAt(at place) (source.LockOp, bool) {
	s, ok := innermost[ast.Stmt](at)
	if !ok {
		return source.LockOp{}, false
	}
	op, ok := lockOpOf(at.file, s)
	return op, ok && op.Acquire && !op.Try
}

// callIn returns a call within e that runs code of the module; nil if there is none.
func callIn(file *source.File, e ast.Expr) (found *ast.CallExpr) {
	ast.Inspect(e, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && found == nil && file.Callee(call) != nil && usesState(file, call) {
			found = call
		}
		return true
	})
	return found
}

// usesState reports whether a call is a method's, or gets an argument by reference.
func usesState(file *source.File, call *ast.CallExpr) bool {
	if sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok && file.Package.Info.Selections[sel] != nil {
		return true
	}
	for _, arg := range call.Args {
		if source.IsPointer(file.TypeOf(arg)) || source.IsMap(file.TypeOf(arg)) {
			return true
		}
	}
	return false
}

// sharedIn returns a part of e that reads what others may reach as well: a field through a pointer, an element of a
// map or a slice, or what a pointer points to. It returns nil if there is none. Package variables are judged by the
// obligation narrowed, as most of those in results are set once: return ErrClosed.
func sharedIn(file *source.File, e ast.Expr) (found ast.Expr) {
	ast.Inspect(e, func(n ast.Node) bool {
		if found != nil {
			return false
		}
		switch n := n.(type) {
		// p.closed
		case *ast.SelectorExpr:
			if _, obj := file.VariableOf(n); obj != nil && obj.IsField() && source.IsPointer(file.TypeOf(n.X)) {
				found = n
			}
		// rows[key], all[0]
		case *ast.IndexExpr:
			switch file.TypeOf(n.X).Underlying().(type) {
			case *types.Map, *types.Slice, *types.Pointer:
				found = n
			}
		// *p
		case *ast.StarExpr:
			if file.Package.Info.Types[n].IsValue() {
				found = n
			}
		}
		return true
	})
	return found
}
