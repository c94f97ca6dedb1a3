package validate

import (
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
	"github.com/interlock-go/interlock/analyzers/pass/callgraph"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
	"github.com/interlock-go/interlock/analyzers/pass/lockset"
	"github.com/interlock-go/interlock/patchgen/internal/facts"
	"github.com/interlock-go/interlock/patchgen/internal/session"
)

// The order of locks has those in local variables too, by the function that declares the variable and its name: the
// literals of the function take them.
//
//	mu.Lock()
//	slices.SortFunc(list, func(a, b int) int { mu.Lock(); … })

// acquired returns the class of the lock that a call itself waits for; "" for other calls.
func acquired(p *session.Package, call ssa.CallInstruction) string {
	if class := facts.Acquired(p, call); class != "" {
		return class
	}
	name := facts.MethodName(call)
	if lock := p.Locks.Receiver(call); lock != nil && (name == "Lock" || name == "RLock") {
		return localClass(accesspath.Of(lock))
	}
	return ""
}

// localClass names a lock in a local variable; "" for other locks.
func localClass(path accesspath.Path) string {
	local, ok := path.Root.(*ssa.Alloc)
	if !ok || path.Fields != "" || local.Comment == "" {
		return ""
	}
	function := callgraph.FullName(ir.Outermost(local.Parent()))
	if function == "" {
		return ""
	}
	return function + "." + local.Comment
}

// heldAt lists the classes that may be held at a call: those of held, and the locks in local variables. A deferred call
// may come behind the release of such a lock.
func heldAt(held []string, call ssa.CallInstruction, st *lockset.State) []string {
	if _, isCall := call.(*ssa.Call); !isCall {
		return held
	}
	held = slices.Clone(held)
	for _, k := range st.Known() {
		if k.Class != "" || !st.MayHold(k.Path) {
			continue
		}
		if class := localClass(k.Path); class != "" {
			held = append(held, class)
		}
	}
	return held
}

// isOfCall reports whether a class is that of a local variable of fn, which each call of fn has for itself.
func isOfCall(fn *ssa.Function, class string) bool {
	return fn.Parent() == nil && strings.HasPrefix(class, callgraph.FullName(fn)+".")
}
