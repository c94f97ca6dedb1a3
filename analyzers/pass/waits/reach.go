package waits

import (
	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/pass/ir"
	"github.com/interlock-go/interlock/analyzers/pass/simulation"
)

// reaching returns the functions of prog from which an operation is reached that starts a goroutine, waits or wakes one
// that waits. In the scope of any other function one goroutine runs, and it ends: nothing is to be found there. A call
// by an interface may reach each method of the name, and a function that is mentioned may be called.
func reaching(prog *ir.Program) map[*ssa.Function]bool {
	users := map[*ssa.Function][]*ssa.Function{} // by the function that they mention
	callers := map[string][]*ssa.Function{}      // by the method that they call by an interface
	visited, found := map[*ssa.Function]bool{}, map[*ssa.Function]bool{}
	var work []*ssa.Function
	var visit func(fn *ssa.Function)
	visit = func(fn *ssa.Function) {
		if visited[fn] {
			return
		}
		visited[fn] = true
		if simulation.Synchronises(fn) {
			found[fn] = true
			work = append(work, fn)
		}
		for instr := range ir.Instructions(fn) {
			if call, ok := instr.(ssa.CallInstruction); ok && call.Common().IsInvoke() {
				name := call.Common().Method.Name()
				callers[name] = append(callers[name], fn)
			}
			for _, operand := range instr.Operands(nil) {
				if mentioned, ok := (*operand).(*ssa.Function); ok {
					mentioned = ir.Origin(mentioned)
					users[mentioned] = append(users[mentioned], fn)
					visit(mentioned) // it may be made of a method, and not one of the program's
				}
			}
		}
	}
	for _, fn := range prog.Funcs {
		visit(fn)
	}
	// What reaches one of them reaches the operation.
	for len(work) > 0 {
		fn := work[len(work)-1]
		work = work[:len(work)-1]
		from := users[fn]
		if fn.Signature.Recv() != nil {
			from = append(from[:len(from):len(from)], callers[fn.Name()]...)
		}
		for _, user := range from {
			if !found[user] {
				found[user] = true
				work = append(work, user)
			}
		}
	}
	return found
}
