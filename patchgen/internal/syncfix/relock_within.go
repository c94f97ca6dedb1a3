package syncfix

import (
	"fmt"
	"go/ast"
	"strings"

	"github.com/interlock-go/interlock/patchgen/internal/source"
)

// mostDeep is how many calls lead from the holder of the lock to the function that takes it again, at most.
const mostDeep = 3

// correctWithin keeps a function that is called under the lock, and not without it, from calling one that takes it.
//
//	func (s *store) Put(k string) {		func (s *store) trim() {
//		s.mu.Lock()				for s.Len() > s.max {	// takes s.mu
//		defer s.mu.Unlock()				…
//		s.trim()				}
//	}					}
func (r *relocking) correctWithin(file *source.File, call *ast.CallExpr, f *source.Function, held source.LockOp,
	depth int) error {
	inside, err := inCallee(file, call, f, held)
	if err != nil {
		return err
	}
	if err := r.isOnlyCalledUnder(f, held); err != nil || r.within[f] {
		return err
	}
	r.within[f] = true
	// The calls in it that take the lock, at once or by one more call.
	found := 0
	f.EachCall(func(next *ast.CallExpr) {
		callee := f.File.Callee(next)
		if callee == nil || callee == f || err != nil || isOwnCall(f.File, next) != nil {
			return
		}
		var corrected bool
		if corrected, err = r.correctCall(f.File, next, callee, inside, depth); corrected {
			found++
		}
	})
	if err == nil && found == 0 {
		err = fmt.Errorf("%s: no call in %s is known to take the lock", f.File.At(f.Node), f.Name())
	}
	return err
}

// correctCall keeps one call in a function that is called under the lock from taking it, and reports whether it did.
func (r *relocking) correctCall(file *source.File, call *ast.CallExpr, callee *source.Function, held source.LockOp,
	depth int) (corrected bool, err error) {
	body, notFirst := lockedBodyOf(callee)
	switch {
	case notFirst != nil && depth < mostDeep && r.takes(callee, held.Path.Class):
		return true, r.correctWithin(file, call, callee, held, depth+1)
	case notFirst != nil || sameLock(file, call, callee, held, body.lock) != nil:
		return false, nil
	case held.Read && !body.lock.Read:
		return false, fmt.Errorf("%s: %s writes, and is called under the read lock", file.At(call), callee.Name())
	}
	return true, r.replaceCall(file, call, callee, body)
}

// takes reports whether a function calls one that takes a lock of a class first.
func (r *relocking) takes(f *source.Function, class string) (found bool) {
	f.EachCall(func(call *ast.CallExpr) {
		if callee := f.File.Callee(call); callee != nil {
			body, err := lockedBodyOf(callee)
			found = found || err == nil && body.lock.Path.Class == class
		}
	})
	return found
}

// isOnlyCalledUnder returns an error unless the functions that call f, tests apart, all hold the lock there.
func (r *relocking) isOnlyCalledUnder(f *source.Function, held source.LockOp) error {
	calls, asValue := r.Module.References(f)
	if asValue || f.Object == nil || f.Object.Exported() {
		return fmt.Errorf("%s may also be called without the lock", f.Name())
	}
	for _, c := range calls {
		if c.In == nil || !r.Facts.SurelyHolds(c.In.File, c.Expr, held.Path.Class) {
			return fmt.Errorf("%s is also called without the lock", f.Name())
		}
	}
	return nil
}

// inCallee writes the lock that a caller holds in the terms of a method that it calls on the same object.
func inCallee(file *source.File, call *ast.CallExpr, callee *source.Function,
	held source.LockOp) (source.LockOp, error) {
	recv := callee.Receiver()
	sel, isSel := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if recv == nil || !isSel {
		if !strings.HasPrefix(held.Path.Class, source.LocalClass) && held.Path.Key == held.Path.Class {
			return held, nil // a package variable
		}
		return held, fmt.Errorf("%s: the lock has no name in %s", file.At(call), callee.Name())
	}
	object, ok := file.PathOf(sel.X)
	rest, isField := strings.CutPrefix(held.Path.Key, object.Key)
	if !ok || !isField {
		return held, fmt.Errorf("%s: the lock of %s may be that of another object", file.At(call), callee.Name())
	}
	held.Path.Key = source.ObjectKey(file.Module, recv) + rest
	return held, nil
}
