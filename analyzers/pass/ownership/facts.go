package ownership

import (
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/pass/callgraph"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
)

// freshResult reports whether result i of the call is nil or a fresh object.
func (r *Result) freshResult(call *ssa.Call, i int) bool {
	fn := ir.Origin(call.Call.StaticCallee())
	switch {
	case fn == nil:
		return false
	case len(fn.Blocks) > 0:
		return r.returnsFresh(fn, i)
	}
	var fact Behaviour
	if obj, ok := fn.Object().(*types.Func); ok && r.pass.ImportObjectFact(obj, &fact) {
		for _, fresh := range fact.FreshResults {
			if fresh == i {
				return true
			}
		}
	}
	return false
}

// returnsFresh reports whether every return of fn returns nil or a fresh
// object as result i. Recursive functions do not.
func (r *Result) returnsFresh(fn *ssa.Function, i int) bool {
	key := resultKey{fn, i}
	if fresh, ok := r.results[key]; ok {
		return fresh
	}
	r.results[key] = false
	fresh, any := true, false
	for _, b := range fn.Blocks {
		ret, ok := b.Instrs[len(b.Instrs)-1].(*ssa.Return)
		if !ok || i >= len(ret.Results) {
			continue
		}
		if isReference(ret.Results[i].Type()) {
			any = true
			fresh = fresh && r.levelAt(ret.Results[i], ret) == Fresh
		}
	}
	r.results[key] = fresh && any
	return fresh && any
}

// builtResult reports whether result i of the call is nil or an object that
// the callee made, and that others know of at most from the functions that the
// callee called to build it.
func (r *Result) builtResult(call *ssa.Call, i int) bool {
	fn := ir.Origin(call.Call.StaticCallee())
	if fn == nil || len(fn.Blocks) == 0 {
		return false
	}
	key := resultKey{fn, i}
	built, ok := r.built[key]
	if !ok {
		r.built[key] = false // recursive functions do not
		built = r.returnsBuilt(fn, i)
		r.built[key] = built
	}
	return built
}

func (r *Result) returnsBuilt(fn *ssa.Function, i int) bool {
	some := false
	for _, b := range fn.Blocks {
		ret, ok := b.Instrs[len(b.Instrs)-1].(*ssa.Return)
		if !ok || i >= len(ret.Results) {
			continue
		}
		switch root := rootObject(ret.Results[i]).(type) {
		case *ssa.Const:
		case *ssa.Alloc, *ssa.Call, *ssa.Extract:
			if !r.isMadeObject(root) || !r.onlyCalls(root) {
				return false
			}
			some = true
		default:
			return false
		}
	}
	return some
}

// isMadeObject reports whether v is an object that its function made, itself or by a
// constructor.
func (r *Result) isMadeObject(v ssa.Value) bool {
	switch v := v.(type) {
	case *ssa.Alloc:
		return v.Heap
	case *ssa.Call:
		return r.freshResult(v, 0) || r.builtResult(v, 0)
	case *ssa.Extract:
		call, ok := v.Tuple.(*ssa.Call)
		return ok && (r.freshResult(call, v.Index) || r.builtResult(call, v.Index))
	}
	return false
}

// onlyCalls reports whether calls alone share the object.
func (r *Result) onlyCalls(object ssa.Value) bool {
	for _, p := range r.publications(object) {
		if _, isCall := p.instr.(*ssa.Call); p.level == Shared && !isCall {
			return false
		}
	}
	return true
}

// freshFromInterface reports whether some method of the package that the call
// through an interface may run returns fresh objects: then others may, too.
func (r *Result) freshFromInterface(call *ssa.Call, i int) bool {
	if !call.Call.IsInvoke() {
		return false
	}
	key := methodKey{call.Call.Method, i}
	fresh, ok := r.methods[key]
	if !ok {
		r.methods[key] = false // recursive methods do not
		fresh = r.someMethodFresh(call, i)
		r.methods[key] = fresh
	}
	return fresh
}

func (r *Result) someMethodFresh(call *ssa.Call, i int) bool {
	iface, ok := call.Call.Value.Type().Underlying().(*types.Interface)
	return ok && slices.ContainsFunc(r.prog.Funcs, func(f *ssa.Function) bool {
		recv := f.Signature.Recv()
		return recv != nil && f.Name() == call.Call.Method.Name() && !r.prog.InTest(f) &&
			types.Implements(recv.Type(), iface) && r.returnsFresh(f, i) && r.returnsBuilt(f, i)
	})
}

func isReference(t types.Type) bool {
	switch t.Underlying().(type) {
	case *types.Pointer, *types.Interface, *types.Map, *types.Slice:
		return true
	}
	return false
}

// findParamLevels finds how far callers share the objects that they pass, for
// functions with known callers: assume that all are fresh, and raise the
// parameters that a call contradicts until none is left to raise.
func (r *Result) findParamLevels() {
	r.findValueCalls()
	// All is fresh at first, also the arguments of functions that run as values.
	for _, f := range r.prog.Funcs {
		if (len(r.graph.Sites(f)) == 0 || !r.graph.Closed(f)) && len(r.callsByValue(f)) == 0 {
			continue
		}
		for _, p := range f.Params {
			if isReference(p.Type()) {
				r.params[p] = Fresh
			}
		}
	}
	// Each round judges by the levels of the last one.
	for changed := true; changed; {
		changed = false
		clear(r.results)
		clear(r.built)
		clear(r.methods)
		for _, f := range r.graph.CallersFirst() {
			for i, p := range f.Params {
				if old, ok := r.params[p]; ok && old < Shared {
					if level := r.passed(f, i); level > old {
						r.params[p], changed = level, true
					}
				}
			}
		}
	}
	clear(r.results)
	clear(r.built)
	clear(r.methods)
}

func (r *Result) passed(f *ssa.Function, i int) Level {
	level := r.passedToValue(r.callsByValue(f), i)
	for _, s := range r.graph.Sites(f) {
		if s.Mode == callgraph.Go || i >= len(s.Args) {
			return Shared
		}
		if level = max(level, r.levelAt(s.Args[i], s.Instr)); level == Shared {
			break
		}
	}
	return level
}

// export exports how exported functions behave, for importing packages.
func (r *Result) export() {
	for _, f := range r.prog.Funcs {
		obj, ok := f.Object().(*types.Func)
		if !ok || !obj.Exported() || r.prog.InTest(f) || len(f.Blocks) == 0 {
			continue
		}
		fact := new(Behaviour)
		for i := range f.Signature.Results().Len() {
			if r.returnsFresh(f, i) {
				fact.FreshResults = append(fact.FreshResults, i)
			}
		}
		for i := range f.Params {
			if level := r.leakOfFunction(f, i); level > Fresh {
				fact.Leaks = append(fact.Leaks, make([]Level, i+1-len(fact.Leaks))...)
				fact.Leaks[i] = level
			}
		}
		r.pass.ExportObjectFact(obj, fact)
	}
}
