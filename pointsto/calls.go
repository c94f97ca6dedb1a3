package pointsto

import (
	"go/types"
	"slices"

	"golang.org/x/tools/go/callgraph"
	"golang.org/x/tools/go/ssa"
)

// callees lists the functions that the calls of a program may call.
type callees map[ssa.CallInstruction][]*ssa.Function

func calleesOf(g *callgraph.Graph) callees {
	all := callees{}
	add := func(site ssa.CallInstruction, fn *ssa.Function) {
		if !slices.Contains(all[site], fn) {
			all[site] = append(all[site], fn)
		}
	}
	for _, n := range g.Nodes {
		for _, e := range n.Out {
			if e.Site != nil {
				add(e.Site, e.Callee.Func)
			}
		}
	}
	return all
}

// call adds the flow of a call to and from its callees.
func (f *flows) call(call ssa.CallInstruction, to []*ssa.Function) {
	common := call.Common()
	if b, ok := common.Value.(*ssa.Builtin); ok {
		f.builtin(call, b)
		return
	}
	if _, isGo := call.(*ssa.Go); isGo && !runsAtOnce(call) {
		f.share(common)
	}
	if common.StaticCallee() == nil {
		// External code may have returned the function that is called here.
		n := f.node(common.Value)
		f.dynamic[n] = append(f.dynamic[n], call)
		if f.has(n, unknown) {
			f.calledExternal(call)
		}
	}
	for _, fn := range to {
		f.into(call, fn)
	}
}

// share marks all that a go statement hands over as reachable from another goroutine.
func (f *flows) share(common *ssa.CallCommon) {
	f.mark(f.node(common.Value), escapes)
	for _, a := range common.Args {
		f.mark(f.node(a), escapes)
	}
}

// flowToExternal adds the flow of a call of external code: its arguments escape, its results are
// unknown.
func (f *flows) flowToExternal(call ssa.CallInstruction) {
	common := call.Common()
	for _, a := range common.Args {
		f.mark(f.node(a), escapesExternal)
	}
	f.resultsFrom(call, func(_ int, n node) { f.mark(n, unknown) })
}

// resultsFrom calls do for each result of the call that holds pointers.
func (f *flows) resultsFrom(call ssa.CallInstruction, do func(i int, n node)) {
	v, ok := call.(*ssa.Call)
	if !ok {
		return
	}
	for i := range v.Call.Signature().Results().Len() {
		if n := f.result(v, v.Call.Signature(), i); n != none {
			do(i, n)
		}
	}
}

// into adds the flow between a call and one of its callees.
func (f *flows) into(call ssa.CallInstruction, fn *ssa.Function) {
	args := call.Common().Args
	if call.Common().IsInvoke() {
		args = append([]ssa.Value{call.Common().Value}, args...)
	}
	if isTestFramework(call) {
		return
	}
	m := modelOf(fn)
	if m.also != nil {
		m.also(f, call, args)
	}
	if m == externalCode && packagePath(call.Parent()) == "errors" {
		return // the target of As, which has a model
	}
	if looksOnly(call) {
		f.mark(f.node(args[0]), printed) // without the calls
		return
	}
	if m.apply != nil {
		m.apply(f, call, args)
		return
	}
	if len(fn.Blocks) == 0 {
		if m.keepsNothing {
			f.resultsFrom(call, func(_ int, n node) { f.setObject(n) })
		} else {
			f.flowToExternal(call)
		}
		return
	}
	for i, p := range fn.Params {
		if i >= len(args) || m.ignores(i, args[i]) {
			continue
		}
		if i == 0 && call.Common().IsInvoke() {
			// Of all that the interface may hold only values with the method's
			// receiver as their type come here.
			f.connect(f.valuesOf(f.id(p.Type()), p.Type()), f.node(p), flow)
			f.connect(f.node(args[0]), f.node(p), foreign)
			continue
		}
		f.connect(f.node(args[i]), f.node(p), flow)
	}
	f.resultsFrom(call, func(i int, n node) { f.connect(f.result(fn, fn.Signature, i), n, flow) })
}

func (f *flows) builtin(call ssa.CallInstruction, b *ssa.Builtin) {
	args := call.Common().Args
	v, _ := call.(*ssa.Call)
	if _, isGo := call.(*ssa.Go); isGo {
		f.share(call.Common())
	}
	switch b.Name() {
	case "append":
		if v == nil {
			return
		}
		f.connect(f.node(args[0]), f.node(v), flow)
		f.setObject(f.node(v)) // the elements may have moved
		f.appended(args[1], v)
	case "copy":
		f.appended(args[1], args[0])
	case "recover":
		if v != nil {
			f.connect(f.panics, f.node(v), flow)
		}
	case "ssa:wrapnilchk":
		f.connect(f.node(args[0]), f.node(v), flow)
	case "Add", "Slice", "SliceData", "StringData":
		f.unsafeBuiltin(v, args[0])
	}
}

// unsafeBuiltin adds the flow of a builtin of package unsafe: its result is x, as elements
// or as one value.
func (f *flows) unsafeBuiltin(v *ssa.Call, x ssa.Value) {
	if v == nil {
		return
	}
	f.connect(f.node(x), f.node(v), flow)
	for _, side := range []ssa.Value{x, v} {
		switch u := side.Type().Underlying().(type) {
		case *types.Pointer:
			f.merge(f.elem(u.Elem()), f.deref(u.Elem()))
		case *types.Slice:
			f.merge(f.elemOf(side), f.deref(u.Elem()))
		default: // unsafe.Pointer, or the bytes of a string
			f.mark(f.node(v), unknown)
			f.mark(f.node(x), escapesExternal)
		}
	}
}
