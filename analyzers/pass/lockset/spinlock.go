package lockset

import (
	"go/constant"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
	"github.com/interlock-go/interlock/analyzers/pass/callgraph"
)

// findSpins finds the locks that the package makes itself of an atomic word:
// a method that tries to swap it from zero until that succeeds takes the lock,
// and a method of the same type that stores zero there releases it. What they
// are called does not matter.
func (r *Result) findSpins() {
	takers := map[string]bool{}
	for _, fn := range r.prog.Funcs {
		if word, ok := atomicWord(fn, isTake); ok {
			r.spins[fn] = lock
			takers[word] = true
		}
	}
	for _, fn := range r.prog.Funcs {
		if word, ok := atomicWord(fn, isGiveUp); ok && takers[word] && r.spins[fn] == 0 {
			r.spins[fn] = unlock
		}
	}
}

// atomicWord returns the word of its receiver, by type and fields, on which fn,
// a method without parameters and results, makes an atomic call that is wanted.
func atomicWord(fn *ssa.Function, wanted func(*ssa.Call) bool) (string, bool) {
	if fn.Signature.Recv() == nil || fn.Signature.Params().Len() > 0 || fn.Signature.Results().Len() > 0 {
		return "", false
	}
	for _, b := range fn.Blocks {
		for _, instr := range b.Instrs {
			call, ok := instr.(*ssa.Call)
			if !ok || !wanted(call) {
				continue
			}
			if p := accesspath.Of(call.Call.Args[0]); p.Root == fn.Params[0] {
				return fn.Params[0].Type().String() + p.Fields, true
			}
		}
	}
	return "", false
}

// isTake reports whether call swaps zero for something else, again and again:
//
//	for !x.CompareAndSwap(0, 1) {}
func isTake(call *ssa.Call) bool {
	args, ok := atomicArgs(call, "CompareAndSwap")
	return ok && len(args) == 2 && isZero(args[0]) && isSet(args[1]) && callgraph.InLoop(call.Block())
}

func isGiveUp(call *ssa.Call) bool {
	args, ok := atomicArgs(call, "Store")
	return ok && len(args) == 1 && isZero(args[0])
}

// atomicArgs returns the arguments after the address of an operation of
// sync/atomic whose name begins so.
func atomicArgs(call *ssa.Call, name string) ([]ssa.Value, bool) {
	fn := call.Call.StaticCallee()
	if fn == nil || fn.Object() == nil || fn.Object().Pkg() == nil || fn.Object().Pkg().Path() != "sync/atomic" ||
		!strings.HasPrefix(fn.Name(), name) || len(call.Call.Args) == 0 {
		return nil, false
	}
	return call.Call.Args[1:], true
}

func isZero(v ssa.Value) bool {
	c, ok := v.(*ssa.Const)
	return ok && c.Value != nil && (c.Value.Kind() == constant.Bool && !constant.BoolVal(c.Value) ||
		c.Value.Kind() == constant.Int && constant.Sign(c.Value) == 0)
}

func isSet(v ssa.Value) bool {
	c, ok := v.(*ssa.Const)
	return ok && c.Value != nil && !isZero(v)
}
