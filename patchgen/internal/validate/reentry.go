package validate

import (
	"fmt"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/pass/callgraph"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
	"github.com/interlock-go/interlock/analyzers/pass/lockset"
	"github.com/interlock-go/interlock/patchgen/internal/session"
)

// Reentry returns what code of others must not do with a patch that is right otherwise; "" if there is nothing. Where
// the module calls such code under the claim's lock, and an exported function takes that lock now and did not before, a
// call from there would wait for itself:
//
//	l.mu.Lock()
//	l.hook()	// calls l.Level(), which locks l.mu now
func (v *Validator) Reentry(after *session.Snapshot, claim Claim) string {
	if claim.Kind != Guarded || claim.isLocalLock() {
		return ""
	}
	// The first call of code that is not known, under the lock.
	s, from := newSide(v.original, claim), ""
	for _, p := range s.Packages {
		each(p, func(fn *ssa.Function, instr ssa.Instruction, st *lockset.State) {
			call, ok := instr.(*ssa.Call)
			if ok && from == "" && s.mayHold(st) && isUnknown(p, call) {
				from = fmt.Sprintf("%s at %s", short(callgraph.FullName(ir.Outermost(fn))), at(p, call))
			}
		})
	}
	if from == "" {
		return ""
	}
	// The exported functions that take the lock since.
	entries := func(f *state) map[string]bool {
		all := map[string]bool{}
		for fn, takes := range f.sumTakes() {
			if obj := fn.Object(); obj != nil && obj.Exported() && takes.has(claim.Lock) {
				all[callgraph.FullName(fn)] = true
			}
		}
		return all
	}
	before := entries(v.original)
	var names []string
	for name := range entries(v.stateOf(after)) {
		if name != "" && !before[name] {
			names = append(names, short(name))
		}
	}
	if len(names) == 0 {
		return ""
	}
	slices.Sort(names)
	what := names[0]
	if len(names) > 1 {
		what = fmt.Sprintf("%s (and %d more)", what, len(names)-1)
	}
	return fmt.Sprintf("%s takes %s now: code of others that %s calls under that lock must not call it any more", what,
		short(claim.Lock), from)
}

// isUnknown reports whether a call may run code that is not the module's.
func isUnknown(p *session.Package, call *ssa.Call) bool {
	if _, builtin := call.Call.Value.(*ssa.Builtin); builtin || p.Locks.Receiver(call) != nil {
		return false
	}
	return call.Call.StaticCallee() == nil && len(p.Calls.At(call)) == 0
}
