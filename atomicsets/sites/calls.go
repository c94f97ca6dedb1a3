package sites

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/interlock-go/interlock/analyzers/syncapi"
	"github.com/interlock-go/interlock/atomicsets/plan"
)

func (w *walker) visitCall(e *ast.CallExpr) {
	deferred := w.deferred
	w.deferred = false
	if b := Builtin(w.info, e.Fun); b != "" {
		w.builtinCall(b, e, deferred)
		return
	}
	if w.fromUintptr(e) {
		defer w.skipping(plan.UnsafeArithmetic)()
	}
	if w.info.Types[e.Fun].IsType() && copiesElements(w.info.TypeOf(e)) {
		w.elements(e.Args[0], plan.Read, deferred)
	}
	w.atomic(e, deferred)
	w.waitGroup(e, deferred)
	w.syncMap(e, deferred)
	w.visitValue(e.Fun) // types and declared functions yield nothing
	w.visitValues(e.Args...)
}

// skipping skips the sites found until the result is called, unless they are skipped anyway.
func (w *walker) skipping(why plan.Reason) (restore func()) {
	before := w.skip
	if before == "" {
		w.skip = why
	}
	return func() { w.skip = before }
}

func (w *walker) builtinCall(name string, e *ast.CallExpr, deferred bool) {
	switch name {
	case "Sizeof", "Offsetof", "Alignof":
		return
	case "delete", "clear":
		if isMapType(w.info.TypeOf(e.Args[0])) {
			m := ast.Unparen(e.Args[0])
			w.record(m, m, plan.Write, w.mapVariable(m)).Deferred = deferred
		} else {
			w.elements(e.Args[0], plan.Write, deferred)
		}
	case "close":
		w.channel(e.Args[0], plan.Write, deferred)
	case "len":
		if m := ast.Unparen(e.Args[0]); isMapType(w.info.TypeOf(m)) {
			w.record(m, m, plan.Read, w.mapVariable(m))
		}
	case "copy", "append":
		w.recordBulk(name, e, deferred)
	}
	w.visitValues(e.Args...)
}

// recordBulk records the accesses of a call of copy or append. A call such as
// copy(f()) has no operands to put the monitor at.
func (w *walker) recordBulk(name string, e *ast.CallExpr, deferred bool) {
	if len(e.Args) < 2 {
		return
	}
	if a := w.elements(e.Args[0], plan.Write, deferred); a != nil {
		a.Append = name == "append"
	}
	if name == "copy" || e.Ellipsis.IsValid() {
		w.elements(e.Args[1], plan.Read, deferred)
	}
}

// atomic records the access that the call e of sync/atomic makes.
func (w *walker) atomic(e *ast.CallExpr, deferred bool) {
	fun, ok := ast.Unparen(e.Fun).(*ast.SelectorExpr)
	if !ok {
		return
	}
	fn, _ := w.info.Uses[fun.Sel].(*types.Func)
	operation := syncapi.Atomic(fn)
	if operation == "" {
		return
	}
	mode := plan.AtomicWrite
	if operation == "Load" {
		mode = plan.AtomicRead
	}
	sel := w.info.Selections[fun]
	switch {
	case sel == nil && len(e.Args) > 0:
		if addr, ok := ast.Unparen(e.Args[0]).(*ast.UnaryExpr); ok && addr.Op == token.AND {
			w.atomicPlace(addr.X, mode, deferred)
		} else {
			w.pointee(e.Args[0], mode, deferred)
		}
	case sel == nil || sel.Kind() != types.MethodVal || len(sel.Index()) > 1:
	case isPointer(sel.Recv()):
		w.pointee(fun.X, mode, deferred)
	default:
		w.atomicPlace(fun.X, mode, deferred)
	}
}

func (w *walker) atomicPlace(e ast.Expr, mode plan.Mode, deferred bool) {
	e = ast.Unparen(e)
	if w.info.Types[e].Addressable() && w.sharedPlace(e) {
		w.record(e, e, mode, w.variable(e)).Deferred = deferred
	}
}
