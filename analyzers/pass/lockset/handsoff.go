package lockset

import (
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/pass/ir"
)

// handsOff reports whether a call that is handed a function may release a lock of the class before it takes one: the
// callee releases what its caller holds, or the function that it is handed does.
//
//	func (s *S) each(f func()) { s.mu.Unlock(); f(); s.mu.Lock() }
//	s.mu.Lock(); s.step(s.mu.Unlock)
func (r *Result) handsOff(call ssa.CallInstruction, class string) bool {
	callee := call.Common().StaticCallee()
	if callee == nil {
		return false
	}
	hands := false
	for _, arg := range call.Common().Args {
		if _, ok := arg.Type().Underlying().(*types.Signature); !ok {
			continue
		}
		hands = true
		if made, ok := arg.(*ssa.MakeClosure); ok {
			fn := made.Fn.(*ssa.Function)
			if k := kinds[boundName(fn)]; k == unlock || k == runlock || r.releases(fn, class) {
				return true
			}
		}
	}
	return hands && r.unlocksFirst(callee, class)
}

// unlocksFirst reports whether fn releases a lock of the class where it cannot have taken one.
func (r *Result) unlocksFirst(fn *ssa.Function, class string) bool {
	var locks, unlocks []ssa.Instruction
	for instr := range ir.Instructions(fn) {
		call, ok := instr.(ssa.CallInstruction)
		if !ok {
			continue
		}
		switch o, ok := r.callOp(call); {
		case !ok || o.class != class:
		case o.kind == unlock || o.kind == runlock:
			unlocks = append(unlocks, instr)
		default:
			locks = append(locks, instr)
		}
	}
	flow := r.prog.Flow(fn)
	return slices.ContainsFunc(unlocks, func(u ssa.Instruction) bool {
		return !slices.ContainsFunc(locks, func(l ssa.Instruction) bool { return flow.Leads(l, u) })
	})
}
