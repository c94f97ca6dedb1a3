package source

import (
	"go/ast"
	"go/types"
)

// LockOp is one call of Lock, RLock, Unlock or RUnlock.
type LockOp struct {
	Call    *ast.CallExpr
	Expr    ast.Expr // the lock: x.mu
	Path    Path
	Acquire bool
	Read    bool // RLock, RUnlock
	Try     bool // may fail to acquire
}

// LockOp classifies a call; ok is false for anything else. Every type with
// Lock and Unlock counts as a lock, wrappers and sync.Locker too.
func (file *File) LockOp(call *ast.CallExpr) (op LockOp, ok bool) {
	// x.mu.Lock(), without arguments
	sel, isSel := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !isSel || len(call.Args) > 0 {
		return op, false
	}
	s := file.Package.Info.Selections[sel]
	if s == nil || s.Kind() != types.MethodVal {
		return op, false
	}
	// The method's name decides.
	switch sel.Sel.Name {
	case "Lock":
		op.Acquire = true
	case "RLock":
		op.Acquire, op.Read = true, true
	case "TryLock":
		op.Acquire, op.Try = true, true
	case "TryRLock":
		op.Acquire, op.Read, op.Try = true, true, true
	case "Unlock":
	case "RUnlock":
		op.Read = true
	default:
		return op, false
	}
	if !Lockable(s.Recv()) {
		return op, false
	}
	// The lock's path; promoted methods lead through the embedded fields.
	op.Call, op.Expr = call, sel.X
	p, found := file.PathOf(sel.X)
	if !found {
		p = Path{Key: "?" + file.Text(sel.X), Class: OwnerName(file.TypeOf(sel.X)) + " (unknown)"}
	}
	op.Path = p.through(s.Recv(), s.Index()[:len(s.Index())-1])
	return op, true
}
