package accesses

import (
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/internal/knowledge"
	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
	"github.com/interlock-go/interlock/analyzers/pass/callgraph"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
	"github.com/interlock-go/interlock/analyzers/pass/lockset"
	"github.com/interlock-go/interlock/analyzers/syncapi"
)

// AnyCaller reports whether a stands in a function that importing packages call, on the
// receiver, and is no part of the object's life cycle, which its user calls
// once and alone.
func (l *List) AnyCaller(a *Access) bool {
	roles := l.Graph.Roles(a.Fn)
	recv := a.Fn.Signature.Recv()
	return roles.API && !roles.Unknown && recv != nil && len(a.Fn.Params) > 0 &&
		a.Path.Root == a.Fn.Params[0] && l.Graph.Open(a.Fn) && !l.Prog.Alone(a.Fn) && !LifeCycle(ir.Outermost(a.Fn))
}

// LifeCycle reports whether fn sets an object up or takes it down, by its name.
func LifeCycle(fn *ssa.Function) bool { return knowledge.LifeCycle(fn.Name()) }

// Synchronised reports whether the function of a has certainly held a lock of the class before a, itself
// or by a callee, so that it sees writes of others under that lock.
func (l *List) Synchronised(a *Access, class string) bool {
	for instr := range ir.Preceding(a.Instr) {
		call, ok := instr.(*ssa.Call)
		if !ok {
			continue
		}
		if lock := l.Locks.Receiver(call); lock != nil {
			if name, ok := accesspath.NameOf(lock); ok && name.String() == class {
				return true
			}
			continue
		}
		if fn, _ := callgraph.Target(call.Common()); fn != nil && slices.Contains(l.Locks.Takes(fn), class) {
			return true
		}
	}
	return false
}

// MeantToBeShared reports whether method fn, or a method of the same type that
// it calls, synchronises by a field of that type: a lock, a Once, an atomic.
// Why else would it?
func (l *List) MeantToBeShared(fn *ssa.Function) bool {
	if fn.Signature.Recv() == nil || len(fn.Params) == 0 {
		return false
	}
	recv := fn.Params[0].Type()
	seen := map[*ssa.Function]bool{}
	var uses func(fn *ssa.Function, depth int) bool
	uses = func(fn *ssa.Function, depth int) bool {
		if seen[fn] || depth > knowledge.CallsToSync || fn.Signature.Recv() == nil ||
			!types.Identical(fn.Signature.Recv().Type(), recv) {
			return false
		}
		seen[fn] = true
		for _, call := range listCalls(fn) {
			callee, args := callgraph.Target(call)
			if callee == nil {
				continue
			}
			if len(args) > 0 && synchroniser(args[0], recv) || uses(callee, depth+1) {
				return true
			}
		}
		return false
	}
	return uses(fn, 0)
}

func listCalls(fn *ssa.Function) []*ssa.CallCommon {
	var all []*ssa.CallCommon
	for instr := range ir.Instructions(fn) {
		if call, ok := instr.(ssa.CallInstruction); ok {
			all = append(all, call.Common())
		}
	}
	return all
}

// synchroniser reports whether v is the address of a field of owner's struct
// by which goroutines synchronise.
func synchroniser(v ssa.Value, owner types.Type) bool {
	fa, ok := v.(*ssa.FieldAddr)
	if !ok || !synchronises(accesspath.FieldOf(fa).Type()) {
		return false
	}
	for !types.Identical(fa.X.Type(), owner) { // of a struct within
		if fa, ok = fa.X.(*ssa.FieldAddr); !ok {
			return false
		}
	}
	return true
}

func synchronises(t types.Type) bool {
	if lockset.IsLock(t) {
		return true
	}
	return syncapi.Type(ir.Pointee(t)) != ""
}
