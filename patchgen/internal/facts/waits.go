package facts

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
	"github.com/interlock-go/interlock/analyzers/pass/callgraph"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
)

// Waiting names an instruction that waits for another goroutine; "" for others.
func Waiting(instr ssa.Instruction) string {
	switch instr := instr.(type) {
	case *ssa.Send:
		return "sends on a channel"
	case *ssa.UnOp:
		if instr.Op == token.ARROW {
			return "receives from a channel"
		}
	case *ssa.Select:
		if instr.Blocking {
			return "waits in a select"
		}
	}
	return ""
}

// Awaits returns why an instruction waits for other goroutines: by an operation on a channel or a function named Wait,
// of its own or of a function of the module that it leads to. Code that is not known is taken for code that does not.
func (f *Facts) Awaits(instr ssa.Instruction) string { return f.awaits.Does(instr) }

func (f *Facts) lookAwaits(instr ssa.Instruction) (why string, calls []*ssa.Function) {
	call, ok := runsNow(instr)
	if !ok {
		return Waiting(instr), nil
	}
	if fn, _ := callgraph.Target(call.Common()); fn != nil && f.Calls.Declared(fn) == nil && fn.Name() == "Wait" {
		return fmt.Sprintf("calls %s, which waits", f.CallText(call)), nil
	}
	return "", f.Calls.Runs(call)
}

// SurelyAwaits reports whether an instruction waits for other goroutines or for time, by calls that are resolved.
func (f *Facts) SurelyAwaits(instr ssa.Instruction) bool { return f.sureWaits.Does(instr) != "" }

func (f *Facts) lookSureWaits(instr ssa.Instruction) (why string, calls []*ssa.Function) {
	call, ok := runsNow(instr)
	if !ok {
		return Waiting(instr), nil
	}
	if fn, _ := callgraph.Target(call.Common()); fn != nil && f.Calls.Body(fn) != nil {
		return "", []*ssa.Function{f.Calls.Body(fn)}
	}
	if surelyWaits(call) {
		return "waits", nil
	}
	return "", nil
}

// Hazard returns why an instruction must not run under a lock: it may wait for other goroutines, do I/O, or run code
// that is not known. "" if nothing speaks against it. Other locks are a matter of their order.
func (f *Facts) Hazard(instr ssa.Instruction) string { return f.hazards.Does(instr) }

func (f *Facts) lookHazard(instr ssa.Instruction) (why string, calls []*ssa.Function) {
	call, ok := runsNow(instr)
	if !ok {
		return Waiting(instr), nil
	}
	if _, isBuiltin := call.Common().Value.(*ssa.Builtin); isBuiltin || f.lockOf(call) != nil {
		return "", nil
	}
	fn, args := callgraph.Target(call.Common())
	switch {
	case fn == nil:
		return f.dynamic(call)
	case f.Calls.Body(fn) != nil:
		return "", []*ssa.Function{f.Calls.Body(fn)}
	}
	return f.library(call, fn, args)
}

// How the reason of a hazard ends of which nobody knows that it waits.
const (
	AnyCode = "which may be any code"
	MayDoIO = "which may wait or do I/O"
)

// isUnknown reports whether a call has a hazard of which nobody knows that it waits for other goroutines or for time.
func isUnknown(call ssa.CallInstruction, why string) bool {
	return strings.HasSuffix(why, AnyCode) || strings.HasSuffix(why, MayDoIO) && !surelyWaits(call)
}

// surelyWaits reports whether a call of a library waits for other goroutines or for time, by its name.
func surelyWaits(call ssa.CallInstruction) bool {
	fn, _ := callgraph.Target(call.Common())
	return fn != nil && (fn.Name() == "Wait" || fn.Name() == "Sleep")
}

// runsNow returns the call that an instruction makes, if the function does not go on before that has returned. What is
// deferred comes before the function returns.
func runsNow(instr ssa.Instruction) (ssa.CallInstruction, bool) {
	call, ok := instr.(ssa.CallInstruction)
	_, isGo := instr.(*ssa.Go)
	return call, ok && !isGo
}

// lockOf returns the lock that a call takes or releases; nil if it does neither.
func (f *Facts) lockOf(call ssa.CallInstruction) ssa.Value {
	return f.Of(call.Parent()).Locks.Receiver(call)
}

// CallText returns the called function as the source names it.
func (f *Facts) CallText(call ssa.CallInstruction) string {
	if syntax, ok := f.Of(call.Parent()).IR.Node(call.Common().Pos()).(*ast.CallExpr); ok {
		return ir.Text(syntax.Fun)
	}
	return "a function"
}

// dynamic judges a call through an interface or a function value by what it may run, if all of that is known: a value
// that was followed, or an interface that only the package implements.
func (f *Facts) dynamic(call ssa.CallInstruction) (why string, calls []*ssa.Function) {
	common := call.Common()
	for _, site := range f.Of(call.Parent()).Calls.At(call) {
		body := f.Calls.Body(site.Callee)
		if body == nil {
			return f.library(call, site.Callee, nil)
		}
		calls = append(calls, body)
	}
	if common.IsInvoke() && len(calls) == 0 && isClosedInterface(common.Value.Type()) {
		calls = f.Calls.Runs(call)
	}
	if len(calls) == 0 {
		return fmt.Sprintf("calls %s, %s", f.CallText(call), AnyCode), nil
	}
	return "", calls
}

// isClosedInterface reports whether t is an interface that other packages cannot name.
func isClosedInterface(t types.Type) bool {
	n, ok := types.Unalias(t).(*types.Named)
	return ok && n.Obj().Pkg() != nil && !ast.IsExported(n.Obj().Name())
}

// library judges a function outside of the module by the table, and by the callbacks that it is handed.
func (f *Facts) library(call ssa.CallInstruction, fn *ssa.Function, args []ssa.Value) (why string,
	calls []*ssa.Function) {
	obj, ok := fn.Object().(*types.Func)
	if !ok || obj.Pkg() == nil {
		return "", nil
	}
	if obj.FullName() == "(*sync.Pool).Get" {
		return f.newOfPools(fn.Prog)
	}
	if !callgraph.NeverWaits(obj) {
		return fmt.Sprintf("calls %s, %s", f.CallText(call), MayDoIO), nil
	}
	for _, a := range callgraph.Spread(args) {
		known := f.Calls.Callbacks(a)
		if _, isFunc := a.Type().Underlying().(*types.Signature); isFunc && len(known) == 0 && !isNil(a) {
			return fmt.Sprintf("hands a function to %s, %s", f.CallText(call), AnyCode), nil
		}
		calls = append(calls, known...)
	}
	return "", calls
}

func isNil(v ssa.Value) bool {
	c, ok := v.(*ssa.Const)
	return ok && c.IsNil()
}

// newOfPools judges the functions that a package stores as New of a sync.Pool, all of which a Get may call.
func (f *Facts) newOfPools(pkg *ssa.Program) (why string, calls []*ssa.Function) {
	for _, fn := range f.packages[pkg].IR.Funcs {
		for instr := range ir.Instructions(fn) {
			store, ok := instr.(*ssa.Store)
			if !ok {
				continue
			}
			field, ok := store.Addr.(*ssa.FieldAddr)
			if !ok || accesspath.FieldOf(field).Name() != "New" || field.X.Type().String() != "*sync.Pool" {
				continue
			}
			known := f.Calls.Callbacks(store.Val)
			if len(known) == 0 {
				return "calls the New of a sync.Pool, " + AnyCode, nil
			}
			calls = append(calls, known...)
		}
	}
	return "", calls
}

// lookNew is lookHazard for a lock whose region is made, and can be made elsewhere: it ends where another lock is used,
// has no endless loop, and runs no methods of values of which the types are not known.
func (f *Facts) lookNew(instr ssa.Instruction) (why string, calls []*ssa.Function) {
	call, ok := runsNow(instr)
	if !ok {
		return Waiting(instr), nil
	}
	if lock := f.lockOf(call); lock != nil {
		return "uses the lock " + lockText(lock), nil
	}
	if why, calls = f.lookHazard(instr); f.trusting && isUnknown(call, why) {
		return "", nil
	}
	if fn, args := callgraph.Target(call.Common()); why == "" && fn != nil && f.Calls.Body(fn) == nil {
		if v := f.asksMethods(fn, args); v != nil && !f.trusting {
			return fmt.Sprintf("hands values to %s, whose methods may be any code", f.CallText(call)), nil
		}
	}
	for _, fn := range calls {
		if f.isEndless(fn) {
			return fmt.Sprintf("calls %s, which loops without end", nameOf(fn)), nil
		}
	}
	return why, calls
}

// askers are the packages whose functions call methods of what they are handed.
var askers = []string{"fmt", "sort", "bytes", "errors", "container/heap"}

// asksMethods returns the argument of a library function whose methods that calls, where its type is not known.
func (f *Facts) asksMethods(fn *ssa.Function, args []ssa.Value) ssa.Value {
	obj := fn.Object()
	if obj == nil || obj.Pkg() == nil || !slices.Contains(askers, obj.Pkg().Path()) {
		return nil
	}
	for _, a := range callgraph.Spread(args) {
		_, isKnown := a.(*ssa.MakeInterface)
		if types.IsInterface(a.Type()) && !isKnown && !isNil(a) {
			return a
		}
	}
	return nil
}

// lockText names a lock for reasons, without the path of its package.
func lockText(lock ssa.Value) string {
	if name, ok := accesspath.NameOf(lock); ok {
		return name.Short()
	}
	return accesspath.Of(lock).String()
}

// isEndless reports whether a function holds a loop that it does not leave.
func (f *Facts) isEndless(fn *ssa.Function) bool {
	known, ok := f.endless[fn]
	if !ok && fn.Syntax() != nil {
		known = endlessIn(fn.Syntax())
		f.endless[fn] = known
	}
	return known
}

// endlessIn reports whether a loop without a condition or a way out stands in n, literals apart.
func endlessIn(n ast.Node) (found bool) {
	ast.Inspect(n, func(x ast.Node) bool {
		switch x := x.(type) {
		case *ast.FuncLit:
			return x == n
		case *ast.ForStmt:
			found = found || x.Cond == nil && !hasJump(x.Body)
		}
		return !found
	})
	return found
}

// hasJump reports whether a loop body has a way out.
func hasJump(body *ast.BlockStmt) (found bool) {
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.ReturnStmt:
			found = true
		case *ast.BranchStmt:
			found = found || n.Tok == token.BREAK || n.Tok == token.GOTO
		}
		return true
	})
	return found
}
