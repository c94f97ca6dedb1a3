package stationary

import (
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/internal/knowledge"
	"github.com/interlock-go/interlock/analyzers/pass/callgraph"
	"github.com/interlock-go/interlock/analyzers/pass/ownership"
)

// Package reflect sets exported fields without naming them. A pointer in a
// variable of type any may come to it; one in an interface with methods does
// so in decoders only, which [overwrites] knows. The rest is opinion about
// functions that do not.

// onlyReads reports whether fn does not write to the object that an interface leads to.
func onlyReads(fn *ssa.Function) bool {
	if fn.Object() != nil && fn.Object().Pkg() != nil && knowledge.OnlyKeeps(fn.Object().Pkg().Path()) {
		return true
	}
	return knowledge.NameOnlyReads(fn.Name()) && !overwrites(fn)
}

// markBoxed marks the fields that a value of type any leads to, unless only readers reach it.
func (f *finder) markBoxed(mk *ssa.MakeInterface) {
	iface, ok := mk.Type().Underlying().(*types.Interface)
	if !ok || iface.NumMethods() > 0 || !leadsToStruct(mk.X.Type()) {
		return
	}
	if f.handedOn(mk, mk) {
		f.reflected(mk.X.Type())
	}
}

// handedOn reports whether code that is handed carrier, which is mk or holds it,
// may write to the object in mk.
func (f *finder) handedOn(mk *ssa.MakeInterface, carrier ssa.Value) bool {
	return slices.ContainsFunc(*carrier.Referrers(), func(use ssa.Instruction) bool {
		switch use := use.(type) {
		case *ssa.DebugRef, *ssa.Panic, *ssa.TypeAssert, *ssa.BinOp:
			return false
		case *ssa.Return:
			return f.owner.Of(mk.X, use) != ownership.Fresh
		case *ssa.Store: // one of several arguments
			at, ok := use.Addr.(*ssa.IndexAddr)
			if !ok || use.Val != carrier {
				return true
			}
			list, ok := at.X.(*ssa.Alloc)
			return !ok || f.handedOn(mk, list)
		case *ssa.IndexAddr:
			return false // of the list: its own elements
		case *ssa.Slice:
			return f.handedOn(mk, use)
		case ssa.CallInstruction:
			return f.callWrites(use, mk)
		}
		return true
	})
}

// callWrites reports whether the callee may decode into the object while others
// see it: it is not known to read only, and the object is not fresh.
func (f *finder) callWrites(call ssa.CallInstruction, mk *ssa.MakeInterface) bool {
	if b, ok := call.Common().Value.(*ssa.Builtin); ok {
		return b.Name() == "append" || b.Name() == "copy" // kept for unknown code
	}
	fn, _ := callgraph.Target(call.Common())
	switch {
	case fn != nil && onlyReads(fn), call.Common().IsInvoke() && knowledge.NameOnlyReads(call.Common().Method.Name()):
		return false
	}
	_, isCall := call.(*ssa.Call)
	return !isCall || f.owner.Of(mk.X, call) != ownership.Fresh
}

func leadsToStruct(t types.Type) bool {
	for range 4 {
		switch u := t.Underlying().(type) {
		case *types.Pointer:
			if _, ok := u.Elem().Underlying().(*types.Struct); ok {
				return true
			}
			t = u.Elem()
		case *types.Slice:
			if _, ok := u.Elem().Underlying().(*types.Struct); ok {
				return true
			}
			t = u.Elem()
		case *types.Map:
			t = u.Elem()
		default:
			return false
		}
	}
	return false
}

// reflected marks the exported fields of the types that t leads to, through pointers too.
func (f *finder) reflected(t types.Type) {
	if f.boxedTypes[t] || len(f.boxedTypes) > knowledge.TypesReflected {
		return
	}
	f.boxedTypes[t] = true
	switch u := t.Underlying().(type) {
	case *types.Pointer:
		f.reflected(u.Elem())
	case *types.Slice:
		f.reflected(u.Elem())
	case *types.Array:
		f.reflected(u.Elem())
	case *types.Map:
		f.reflected(u.Elem())
	case *types.Struct:
		for field := range u.Fields() {
			if field.Exported() || field.Embedded() {
				f.written[field.Origin()] = true
				f.hidden[field.Origin()] = true
				f.reflected(field.Type())
			}
		}
	}
}

// generic marks the objects that a call hands to a function that can only treat them as a
// whole: p of type *T may be assigned to.
func (f *finder) generic(call ssa.CallInstruction, fn *ssa.Function, args []ssa.Value) {
	sig := fn.Signature
	if onlyReads(fn) || len(call.Common().StaticCallee().TypeArgs()) == 0 && sig.TypeParams().Len() == 0 {
		return
	}
	var params []types.Type
	if sig.Recv() != nil {
		params = append(params, nil) // of a type of its own
	}
	for p := range sig.Params().Variables() {
		params = append(params, p.Type())
	}
	for i, arg := range args {
		if i < len(params) && params[i] != nil && wholeOf(params[i]) && leadsToStruct(arg.Type()) &&
			f.owner.Of(arg, call) != ownership.Fresh {
			f.markPointee(arg.Type())
			f.reflected(arg.Type())
		}
	}
}

// wholeOf reports whether t is *T or []T, for a type parameter T.
func wholeOf(t types.Type) bool {
	switch u := t.(type) {
	case *types.Pointer:
		t = u.Elem()
	case *types.Slice:
		t = u.Elem()
	default:
		return false
	}
	_, ok := types.Unalias(t).(*types.TypeParam)
	return ok
}
