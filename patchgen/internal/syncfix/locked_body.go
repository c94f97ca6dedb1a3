package syncfix

import (
	"fmt"
	"go/ast"
	"go/types"

	"github.com/interlock-go/interlock/patchgen/internal/source"
)

// lockedBody is what a function does under a lock that it takes first and releases last, by a defer or not.
type lockedBody struct {
	lock     source.LockOp
	deferred bool
	work     []ast.Stmt // under the lock
	behind   []ast.Stmt // the return behind a release that is not deferred, if there is one
}

// lockedBodyOf returns what a function does under the lock that it takes by its first statement. It may do nothing else
// with locks of that class.
//
//	s.mu.Lock()			s.mu.Lock()
//	defer s.mu.Unlock()		s.n++
//	return s.n			s.mu.Unlock()
func lockedBodyOf(f *source.Function) (b lockedBody, err error) {
	list := f.Body.List
	if len(list) < 3 {
		return b, fmt.Errorf("%s does not take the lock by itself", f.Name())
	}
	op, ok := lockOpOf(f.File, list[0])
	if !ok || !op.Acquire {
		return b, fmt.Errorf("%s does not begin with the Lock", f.Name())
	}
	b.lock = op
	if b.deferred = releasesDeferred(f.File, list[1], op); b.deferred {
		b.work = list[2:]
	} else if b.work, b.behind, ok = releasedLast(f, op); !ok {
		return b, fmt.Errorf("%s does not defer the Unlock", f.Name())
	}
	n := 0
	ast.Inspect(f.Body, func(x ast.Node) bool {
		if call, ok := x.(*ast.CallExpr); ok {
			if other, ok := f.File.LockOp(call); ok && other.Path.Class == op.Path.Class {
				n++
			}
		}
		return true
	})
	if n != 2 {
		return b, fmt.Errorf("%s releases the lock in between", f.Name())
	}
	return b, nil
}

// releasedLast returns what stands between a Lock, the first statement, and its release, the last one or behind it
// a return of locals; not ok where a way leads out before.
func releasedLast(f *source.Function, op source.LockOp) (work, behind []ast.Stmt, ok bool) {
	list := f.Body.List
	last := len(list) - 1
	if ret, isReturn := list[last].(*ast.ReturnStmt); isReturn {
		for _, result := range ret.Results {
			if callIn(f.File, result) != nil || sharedIn(f.File, result) != nil {
				return nil, nil, false
			}
		}
		behind, last = list[last:], last-1
	}
	un, isOp := lockOpOf(f.File, list[last])
	if !isOp || un.Acquire || un.Path.Key != op.Path.Key || un.Read != op.Read {
		return nil, nil, false
	}
	for _, s := range list[1:last] {
		if returnIn(s) {
			return nil, nil, false
		}
	}
	return list[1:last], behind, true
}

// returnIn reports whether a return of the function stands in a statement.
func returnIn(s ast.Stmt) (found bool) {
	ast.Inspect(s, func(n ast.Node) bool {
		switch n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.ReturnStmt:
			found = true
		}
		return !found
	})
	return found
}

// onlyResult returns the one result of a function that does nothing else under its lock than to find it.
func (b lockedBody) onlyResult(f *source.Function) ast.Expr {
	if len(b.work) != 1 {
		return nil
	}
	switch s := b.work[0].(type) {
	case *ast.ReturnStmt:
		if len(s.Results) == 1 {
			return s.Results[0]
		}
	case *ast.AssignStmt:
		if len(s.Lhs) != 1 || len(s.Rhs) != 1 || len(b.behind) != 1 {
			return nil
		}
		ret := b.behind[0].(*ast.ReturnStmt)
		if len(ret.Results) == 1 && f.File.Text(ret.Results[0]) == f.File.Text(s.Lhs[0]) {
			return s.Rhs[0]
		}
	}
	return nil
}

// returnsField returns the field or variable that is all that a function returns under its lock.
//
//	defer s.mu.Unlock()		id := s.id
//	return s.id			s.mu.Unlock()
//					return id
func (b lockedBody) returnsField(f *source.Function) ast.Expr {
	e := b.onlyResult(f)
	if e == nil || f.Object == nil {
		return nil
	}
	// A copy of a result with another static type would change what callers do with it.
	result := f.Object.Signature().Results().At(0).Type()
	if _, isPath := f.File.PathOf(e); !isPath || !types.Identical(f.File.TypeOf(e), result) {
		return nil
	}
	switch e := e.(type) {
	case *ast.Ident:
		return e
	case *ast.SelectorExpr:
		if id, ok := e.X.(*ast.Ident); ok && f.File.Package.Info.ObjectOf(id) == f.Receiver() {
			return e
		}
	}
	return nil
}
