package parallel

import (
	"go/types"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
	"github.com/interlock-go/interlock/analyzers/pass/callgraph"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
	"github.com/interlock-go/interlock/analyzers/pass/order"
	"github.com/interlock-go/interlock/analyzers/syncapi"
)

// polledSignals returns the signals that a helper waits for which is handed a condition and asks it until that holds:
//
//	eventually(t, func() bool { return ready.Load() })
func (f *frame) polledSignals(call ssa.CallInstruction) (waits []signal) {
	for _, arg := range call.Common().Args {
		if !isCondition(arg) {
			continue
		}
		// Match eventually(t, ready.Load).
		if addr := boundAtomic(arg); addr != nil {
			waits = addSignals(waits, signalOf(order.Stored, addr))
		}
		for _, s := range f.graph.At(call) {
			if sum := f.summaries[s.Callee]; sum != nil && s.Through != nil && s.Mode == callgraph.Call {
				waits = addSignals(waits, newMapping(s).signals(sum.all.waits, false)...)
			}
		}
		if mk, ok := arg.(*ssa.MakeClosure); ok { // handed to code of which nothing is known
			if sum := f.summaries[mk.Fn.(*ssa.Function)]; sum != nil {
				s := callgraph.Site{Instr: call, Caller: f.fn, Callee: mk.Fn.(*ssa.Function)}
				waits = addSignals(waits, newMapping(s).signals(sum.all.waits, false)...)
			}
		}
	}
	return signalsShown(waits)
}

// signalsShown returns the signals as they are once somebody has waited until they showed.
func signalsShown(list []signal) (all []signal) {
	for _, s := range list {
		s.seen = true
		all = append(all, s)
	}
	return all
}

// isCondition reports whether v is a function without parameters and with a bool as its first result.
func isCondition(v ssa.Value) bool {
	sig, ok := v.Type().Underlying().(*types.Signature)
	if !ok || sig.Params().Len() > 0 || sig.Results().Len() == 0 {
		return false
	}
	b, ok := sig.Results().At(0).Type().Underlying().(*types.Basic)
	return ok && b.Kind() == types.Bool
}

// boundAtomic returns the address of the atomic of which v is the method value x.Load; nil if it is none.
func boundAtomic(v ssa.Value) ssa.Value {
	mk, ok := v.(*ssa.MakeClosure)
	if !ok || len(mk.Bindings) != 1 {
		return nil
	}
	if fn, _ := mk.Fn.(*ssa.Function).Object().(*types.Func); syncapi.Atomic(fn) != "Load" {
		return nil
	}
	return mk.Bindings[0]
}

// polled returns the signals that loops of the function have waited for before it returns: atomics that they
// load, and contexts that they ask for their error, until a branch leaves the loop.
//
//	for !ready.Load() { time.Sleep(time.Millisecond) }
func (f *frame) polled(ret *ssa.Return) (waits []signal) {
	for _, o := range f.ops {
		if len(o.waits) == 0 || !f.flow.Precedes(o.instr, ret) || !f.flow.Leads(o.instr, o.instr) ||
			!f.branches(o.instr, ret) {
			continue
		}
		for _, s := range o.waits {
			if s.sort == order.Stored || s.sort == order.Polled {
				waits = addSignals(waits, signalsShown([]signal{s})...)
			}
		}
	}
	return waits
}

// wonAtomic is the atomic with a change of value that control has made alone where it comes to b; nil if none:
//
//	if claimed.CompareAndSwap(false, true) { result = r }
func wonAtomic(b *ssa.BasicBlock) (claims []held) {
	for ; b.Idom() != nil; b = b.Idom() {
		branch, ok := decides(b.Idom(), b)
		if !ok || branch.Block().Succs[0] != b && !branch.Block().Succs[0].Dominates(b) {
			continue
		}
		call, ok := branch.Cond.(*ssa.Call)
		if ok && ir.Atomic(&call.Call) == "CompareAndSwap" && len(call.Call.Args) > 0 {
			s := signalOf(order.Stored, call.Call.Args[0])
			claims = append(claims, held{path: s.path, class: classOf(s)})
		}
	}
	return claims
}

// classOf returns the name of an atomic that is a field or package variable, as the class of a lock.
func classOf(s signal) string {
	if s.name == (accesspath.Name{}) {
		return ""
	}
	return s.name.String()
}
