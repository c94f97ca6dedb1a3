package ownership

import (
	"go/types"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/internal/knowledge"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
)

// valueCalls are the calls of function values of one signature.
type valueCalls struct {
	signature *types.Signature
	calls     []ssa.CallInstruction
}

// findValueCalls finds the calls of function values outside of tests: options, visitors and the like, which
// run functions that could not be followed to the call.
//
//	for _, option := range options { option(c) }
func (r *Result) findValueCalls() {
	for _, f := range r.prog.Funcs {
		if r.prog.InTest(f) {
			continue
		}
		for instr := range ir.Instructions(f) {
			if call, ok := instr.(ssa.CallInstruction); ok && takesReference(call) && len(r.graph.At(call)) == 0 {
				r.addValueCall(call)
			}
		}
	}
}

// takesReference reports whether call is one of a function value that is handed a pointer or the like.
func takesReference(call ssa.CallInstruction) bool {
	common := call.Common()
	if common.IsInvoke() || common.StaticCallee() != nil {
		return false
	}
	sig, ok := common.Value.Type().Underlying().(*types.Signature)
	if !ok {
		return false // a builtin
	}
	for p := range sig.Params().Variables() {
		if isReference(p.Type()) {
			return true
		}
	}
	return false
}

func (r *Result) addValueCall(call ssa.CallInstruction) {
	sig := call.Common().Value.Type().Underlying().(*types.Signature)
	known := r.callsLike(sig)
	if known == nil {
		known = &valueCalls{signature: sig}
		r.valueCalls = append(r.valueCalls, known)
	}
	known.calls = append(known.calls, call)
}

func (r *Result) callsLike(sig *types.Signature) *valueCalls {
	for _, v := range r.valueCalls {
		if types.Identical(v.signature, sig) {
			return v
		}
	}
	return nil
}

// callsByValue returns the calls of function values that may run f, which are taken to be all beside its known
// callers. That is an opinion: other packages may call the value, or an option by its name. There are none for a
// method, or for another function that is never used as a value.
func (r *Result) callsByValue(f *ssa.Function) []ssa.CallInstruction {
	option := len(r.graph.Sites(f)) == 0 && knowledge.IsOption(f.Name())
	if r.strict || f.Signature.Recv() != nil || !r.graph.Escapes(f) && !option {
		return nil
	}
	known := r.callsLike(f.Signature)
	if known == nil {
		return nil
	}
	return known.calls
}

// passedToValue returns how far calls of function values share the objects that they pass as parameter i.
func (r *Result) passedToValue(calls []ssa.CallInstruction, i int) Level {
	level := Fresh
	for _, call := range calls {
		if _, started := call.(*ssa.Go); started || level == Shared {
			return Shared
		}
		level = max(level, r.levelAt(call.Common().Args[i], call))
	}
	return level
}
