package sites

import (
	"go/ast"
	"go/constant"
	"go/types"
	"strings"

	"github.com/interlock-go/interlock/analyzers/syncapi"
	"github.com/interlock-go/interlock/atomicsets/plan"
)

// Operations of synchronisation that must be ordered themselves are accesses:
//
//	ch <- v      reads the channel   close(ch)    writes it
//	wg.Wait()    reads the counter   wg.Add(1)    writes it atomically, as does wg.Go(f)
//
// So sends are ordered with a close alone, closes with each other, and additions with waits. A receive, len and
// cap are no accesses: whether they come before a close or behind it, nothing breaks.

// channel records an access to the channel that is the value of e.
func (w *walker) channel(e ast.Expr, mode plan.Mode, deferred bool) {
	e = ast.Unparen(e)
	a := w.record(e, e, mode, w.nameHeld(e, plan.KindChannel))
	a.Site.Behind, a.Deferred = true, deferred
}

// nameHeld names the value of e, or its referent: by the variable that holds it or, for the result of a call and
// the like, by the expression.
func (w *walker) nameHeld(e ast.Expr, kind string) plan.Variable {
	v, ok := w.holder(ast.Unparen(e))
	if !ok {
		v = plan.Variable{Package: w.pkg.Path, Function: w.fn, Name: types.ExprString(e)}
	}
	v.Kind = kind
	return v
}

// waitGroup records the access that the call e makes if it is one of a WaitGroup's methods. An Add that
// is not known to count up is left out: one that counts down is ordered with Wait by the WaitGroup.
func (w *walker) waitGroup(e *ast.CallExpr, deferred bool) {
	fun, ok := ast.Unparen(e.Fun).(*ast.SelectorExpr)
	if !ok {
		return
	}
	sel := w.info.Selections[fun]
	if sel == nil || sel.Kind() != types.MethodVal || !isWaitGroup(sel.Obj().(*types.Func).Signature().Recv().Type()) {
		return
	}
	mode := plan.AtomicWrite
	switch fun.Sel.Name {
	case "Wait":
		mode = plan.Read
	case "Go":
	case "Add":
		if delta := w.info.Types[e.Args[0]].Value; delta == nil || constant.Sign(delta) <= 0 {
			return
		}
	default:
		return
	}
	w.counter(ast.Unparen(fun.X), sel, mode, deferred)
}

// counter records an access to the counter of a WaitGroup, of which sel selects a method of operand x. Where
// embedded pointers lie between, there is no place left to put the monitor at (see embedded).
func (w *walker) counter(x ast.Expr, sel *types.Selection, mode plan.Mode, deferred bool) {
	t, through, ok := w.throughFields(sel)
	embeds := through != ""
	switch {
	case !ok, embeds && (isPointer(t) || anyPointer(sel)):
		return
	case !isPointer(sel.Recv()) && !(w.info.Types[x].Addressable() && w.sharedPlace(x)):
		return
	}
	v := w.nameHeld(x, plan.KindWaitGroup)
	if owner, path := lastEmbedded(sel); owner != nil && owner.Obj().Pkg() != nil {
		v = plan.Variable{Package: owner.Obj().Pkg().Path(), Type: owner.Obj().Name(), Name: path, Kind: v.Kind}
	}
	a := w.record(x, x, mode, v)
	a.Site.Behind, a.Deferred, a.Through = embeds || isPointer(sel.Recv()), deferred, through
	if embeds {
		a.Site.Expr += "." + through
	}
}

// lastEmbedded returns the named type in which the last embedded field on the way to a promoted method
// is declared, and the path there; nil if there is none.
func lastEmbedded(sel *types.Selection) (owner *types.Named, path string) {
	t := sel.Recv()
	index := sel.Index()
	for _, n := range index[:len(index)-1] {
		if named := namedOf(t); named != nil {
			owner, path = named.Origin(), ""
		}
		f := structOf(t).Field(n)
		path, t = strings.TrimPrefix(path+"."+f.Name(), "."), f.Type()
	}
	return owner, path
}

// anyPointer reports whether an embedded field on the way to the method is a pointer.
func anyPointer(sel *types.Selection) bool {
	t := sel.Recv()
	index := sel.Index()
	for _, n := range index[:len(index)-1] {
		if t = structOf(t).Field(n).Type(); isPointer(t) {
			return true
		}
	}
	return false
}

func isWaitGroup(t types.Type) bool {
	n := namedOf(t)
	return n != nil && syncapi.Type(n) == "sync.WaitGroup"
}
