package validate

import (
	"fmt"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/pass/callgraph"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
	"github.com/interlock-go/interlock/analyzers/pass/lockset"
	"github.com/interlock-go/interlock/patchgen/internal/session"
)

// reentry doubts what code of others may do: where the module calls it under the claim's lock, and an exported function
// takes that lock now and did not before, a call from there would wait for itself: for a second read lock as soon as
// another goroutine waits to write.
//
//	l.mu.Lock()
//	l.hook()	// calls l.Level(), which locks l.mu now
func (j *judge) reentry() {
	lock := j.now.claim.Lock
	if j.now.claim.isLocalLock() {
		return
	}
	callers := j.old.unknownCalls() // new ones are for the obligation on what waits
	before, after := j.old.clashes(callers), j.now.clashes(callers)
	var names []string
	for name, x := range after {
		if was, known := before[name]; name != "" && (!known || was.again && !x.again) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return
	}
	slices.Sort(names)
	what, from := short(names[0]), after[names[0]]
	if len(names) > 1 {
		what = fmt.Sprintf("%s (and %d more)", what, len(names)-1)
	}
	follows := "if that calls it, it waits for itself"
	if from.again {
		follows = "if that calls it while another goroutine waits to write, both wait for ever"
	}
	j.doubt(from.place, finding.Heavy, "waits", follows,
		"%s takes %s now, under which %s at %s calls code of others", what, short(lock), short(from.function),
		at(from.pkg, from.instr))
}

// caller is a call of code of others under the claim's lock.
type caller struct {
	place
	function string
	read     bool // only the read side may be held
	again    bool // and only the read side is taken: see clashes
}

// unknownCalls lists the calls of code of others under the claim's lock.
func (s *side) unknownCalls() (list []caller) {
	for _, p := range s.Packages {
		each(p, func(fn *ssa.Function, instr ssa.Instruction, st *lockset.State) {
			if call, ok := instr.(*ssa.Call); ok && s.mayHold(st) && isUnknown(p, call) {
				name := callgraph.FullName(ir.Outermost(fn))
				list = append(list, caller{place: place{p, call}, function: name, read: isReadHeld(st, s.claim.Lock)})
			}
		})
	}
	return list
}

// clashes returns the exported functions that take the claim's lock, each with the first of the other callers for which
// it waits, or else of those that hold the read side as well.
func (s *side) clashes(callers []caller) map[string]caller {
	found := map[string]caller{}
	for fn, takes := range s.sumTakes() {
		if obj := fn.Object(); obj == nil || !obj.Exported() {
			continue
		}
		name := callgraph.FullName(fn)
		i := slices.IndexFunc(callers, func(c caller) bool {
			return c.function != name && takes.clashes(s.claim.Lock, c.read)
		})
		if i >= 0 {
			found[name] = callers[i]
			continue
		}
		i = slices.IndexFunc(callers, func(c caller) bool { return c.function != name && takes.has(s.claim.Lock) })
		if i >= 0 {
			found[name] = caller{callers[i].place, callers[i].function, true, true}
		}
	}
	return found
}

// isUnknown reports whether a call may run code that is not the module's.
func isUnknown(p *session.Package, call *ssa.Call) bool {
	if _, builtin := call.Call.Value.(*ssa.Builtin); builtin || p.Locks.Receiver(call) != nil {
		return false
	}
	return call.Call.StaticCallee() == nil && len(p.Calls.At(call)) == 0
}
