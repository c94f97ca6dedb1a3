package sites

import (
	"go/ast"
	"go/types"

	"github.com/interlock-go/interlock/analyzers/syncapi"
	"github.com/interlock-go/interlock/atomicsets/plan"
)

// The methods of a sync.Map access its entries atomically: no two of them race, but two of one goroutine are two
// steps. The site has the place of the method, as those that look for atomic sections have it:
//
//	v, ok := c.m.Load(k)    reads c.m     c.m.Store(k, v)    writes c.m

// syncMapModes has what each method does. One that may leave the map as it is counts as a write.
var syncMapModes = map[string]plan.Mode{
	"Load": plan.AtomicRead, "Range": plan.AtomicRead,
	"Store": plan.AtomicWrite, "LoadOrStore": plan.AtomicWrite, "LoadAndDelete": plan.AtomicWrite,
	"Delete": plan.AtomicWrite, "Swap": plan.AtomicWrite, "CompareAndSwap": plan.AtomicWrite,
	"CompareAndDelete": plan.AtomicWrite, "Clear": plan.AtomicWrite,
}

// syncMap records the access that the call e makes if it is one of a sync.Map's methods. A sync.Map that is embedded
// is left out: no expression names it.
func (w *walker) syncMap(e *ast.CallExpr, deferred bool) {
	fun, ok := ast.Unparen(e.Fun).(*ast.SelectorExpr)
	if !ok {
		return
	}
	sel := w.info.Selections[fun]
	if sel == nil || sel.Kind() != types.MethodVal || len(sel.Index()) > 1 || !isSyncMap(sel.Recv()) {
		return
	}
	x, mode := ast.Unparen(fun.X), syncMapModes[fun.Sel.Name]
	byPointer := isPointer(sel.Recv())
	if mode == "" || !byPointer && !(w.info.Types[x].Addressable() && w.sharedPlace(x)) {
		return
	}
	a := w.record(x, fun, mode, w.nameHeld(x, plan.KindSyncMap))
	a.Deferred, a.Pointer = deferred, byPointer
}

// isSyncMap reports whether t is sync.Map, or a pointer to it.
func isSyncMap(t types.Type) bool {
	n := namedOf(t)
	return n != nil && syncapi.Type(n) == "sync.Map"
}
