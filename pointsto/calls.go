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

// addCall adds the flow of a call to and from its callees.
func (f *flows) addCall(call ssa.CallInstruction, to []*ssa.Function) {
	common := call.Common()
	if b, ok := common.Value.(*ssa.Builtin); ok {
		f.builtin(call, b)
		return
	}
	if _, isGo := call.(*ssa.Go); isGo && !runsAtOnce(call) {
		f.shareArguments(common)
	}
	if common.StaticCallee() == nil {
		// External code may have returned the function that is called here.
		n := f.nodeOf(common.Value)
		f.dynamic[n] = append(f.dynamic[n], call)
		if f.hasMarks(n, unknown) {
			f.calledExternal(call)
		}
	}
	for _, fn := range to {
		f.flowInto(call, fn)
	}
}

// shareArguments marks all that a go statement hands over as reachable from another goroutine.
func (f *flows) shareArguments(common *ssa.CallCommon) {
	f.addMarks(f.nodeOf(common.Value), escapes)
	for _, a := range common.Args {
		f.addMarks(f.nodeOf(a), escapes)
	}
}

// flowToExternal adds the flow of a call of external code: its arguments escape, its results are
// unknown.
func (f *flows) flowToExternal(call ssa.CallInstruction) {
	common := call.Common()
	for _, a := range common.Args {
		f.addMarks(f.nodeOf(a), escapesExternal)
	}
	f.resultsFrom(call, func(_ int, n node) { f.addMarks(n, unknown) })
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

// flowInto adds the flow between a call and one of its callees.
func (f *flows) flowInto(call ssa.CallInstruction, fn *ssa.Function) {
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
		f.addMarks(f.nodeOf(args[0]), printed) // without the calls
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
			f.connect(f.valuesOf(f.typeNumber(p.Type()), p.Type()), f.nodeOf(p), flow)
			f.connect(f.nodeOf(args[0]), f.nodeOf(p), foreign)
			continue
		}
		f.connect(f.nodeOf(args[i]), f.nodeOf(p), flow)
	}
	f.resultsFrom(call, func(i int, n node) { f.connect(f.result(fn, fn.Signature, i), n, flow) })
}

func (f *flows) builtin(call ssa.CallInstruction, b *ssa.Builtin) {
	args := call.Common().Args
	v, _ := call.(*ssa.Call)
	if _, isGo := call.(*ssa.Go); isGo {
		f.shareArguments(call.Common())
	}
	switch b.Name() {
	case "append":
		if v == nil {
			return
		}
		f.connect(f.nodeOf(args[0]), f.nodeOf(v), flow)
		f.setObject(f.nodeOf(v)) // the elements may have moved
		f.appended(args[1], v)
	case "copy":
		f.appended(args[1], args[0])
	case "recover":
		if v != nil {
			f.connect(f.panics, f.nodeOf(v), flow)
		}
	case "ssa:wrapnilchk":
		f.connect(f.nodeOf(args[0]), f.nodeOf(v), flow)
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
	f.connect(f.nodeOf(x), f.nodeOf(v), flow)
	for _, side := range []ssa.Value{x, v} {
		switch u := side.Type().Underlying().(type) {
		case *types.Pointer:
			f.mergeLocations(f.elementLocation(u.Elem()), f.pointeeLocation(u.Elem()))
		case *types.Slice:
			f.mergeLocations(f.elemOf(side), f.pointeeLocation(u.Elem()))
		default: // unsafe.Pointer, or the bytes of a string
			f.addMarks(f.nodeOf(v), unknown)
			f.addMarks(f.nodeOf(x), escapesExternal)
		}
	}
}
