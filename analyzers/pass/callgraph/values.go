package callgraph

import (
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/pass/ir"
)

// use sums up the uses of a function value: it is called at once, it is
// started in a goroutine, or it goes where it cannot be followed.
type use struct{ called, started, lost bool }

type paramKey struct {
	fn    *ssa.Function
	index int
}

// FuncParams is the fact of how a function uses parameters of
// function type: "call" runs them before it returns, "go" starts them in a
// goroutine. Other parameters are not listed.
type FuncParams struct{ Uses map[int]string }

// AFact marks FuncParams as a fact.
func (*FuncParams) AFact() {}

func (f *FuncParams) String() string {
	var parts []string
	for i := range 16 {
		if u := f.Uses[i]; u != "" {
			parts = append(parts, u)
		}
	}
	return "params: " + strings.Join(parts, " ")
}

// addUses follows the closure that mk makes in caller.
func (g *Graph) addUses(caller *ssa.Function, mk *ssa.MakeClosure) {
	w := valueWalk{Graph: g, caller: caller, fn: mk.Fn.(*ssa.Function), cells: map[*ssa.Alloc]bool{}}
	if method, recv := boundMethod(mk); method != nil {
		w.fn, w.args = method, []ssa.Value{recv}
	}
	w.follow(mk)
}

// valueWalk follows a function value through the function that makes it.
type valueWalk struct {
	*Graph
	caller *ssa.Function
	fn     *ssa.Function       // the function that is the value
	args   []ssa.Value         // the receiver that a method value binds
	cells  map[*ssa.Alloc]bool // the local variables that were followed: `g := f; f = g` leads back
}

// addValue records that instr uses function fn itself as a value.
func (g *Graph) addValue(caller, fn *ssa.Function, args []ssa.Value, instr ssa.Instruction) {
	call, ok := instr.(ssa.CallInstruction)
	if !ok {
		g.escapes[ir.Origin(fn)] = true
		return
	}
	g.handedOver(caller, ir.Origin(fn), args, call, fn)
}

// follow records the calls of w.fn by way of the values that v flows to.
func (w *valueWalk) follow(v ssa.Value) {
	for _, ref := range *v.Referrers() {
		switch ref := ref.(type) {
		case ssa.CallInstruction:
			if ref.Common().Value == v && !ref.Common().IsInvoke() {
				if len(w.args) > 0 {
					continue // scan has it, as the call of a bound method
				}
				w.recordOnce(Site{Instr: ref, Caller: w.caller, Callee: w.fn, Mode: modeOf(ref), Args: ref.Common().Args})
			} else {
				w.handedOver(w.caller, w.fn, w.args, ref, v)
			}
		case *ssa.ChangeType:
			w.follow(ref)
		case *ssa.Store:
			w.followCell(ref, v)
		case *ssa.DebugRef:
		default:
			w.escapes[w.fn] = true
		}
	}
}

// recordOnce adds the direct call of a function: that of a closure is met where
// it is made, and where it is called.
func (g *Graph) recordOnce(s Site) {
	for _, have := range g.at[s.Instr] {
		if have.Callee == s.Callee {
			return
		}
	}
	g.addSite(s)
}

// followCell follows a function kept in a local variable, as in
// `var f func(); f = func() { … f() … }`, as long as it is only called there.
func (w *valueWalk) followCell(st *ssa.Store, v ssa.Value) {
	alloc, ok := st.Addr.(*ssa.Alloc)
	if !ok || st.Val != v {
		w.escapes[w.fn] = true
		return
	}
	if w.cells[alloc] {
		w.escapes[w.fn] = true // it is stored there twice
		return
	}
	w.cells[alloc] = true
	for _, ref := range *alloc.Referrers() {
		if load, ok := ref.(*ssa.UnOp); ok && load.Op == token.MUL {
			w.follow(load)
		} else if ref != st {
			w.escapes[w.fn] = true
		}
	}
}

// handedOver records that call takes fn as an argument.
func (g *Graph) handedOver(caller, fn *ssa.Function, args []ssa.Value, call ssa.CallInstruction, v ssa.Value) {
	common := call.Common()
	target, actuals := Target(common)
	for i, a := range actuals {
		if a != v {
			continue
		}
		// Ask how the callee uses this parameter. The body of a range-over-func
		// loop runs before the loop ends, and a parallel subtest beside others,
		// whatever is known of the callee.
		u := g.paramUse(target, i)
		site := Site{Instr: call, Caller: caller, Callee: fn, Mode: modeOf(call), Args: args, Through: target, Param: i}
		switch {
		case yieldBody(fn):
			u = use{called: true}
		case ParallelSubtest(site):
			u = use{started: true}
		}
		switch {
		case u.lost:
			g.escapes[fn] = true
		case u.started:
			site.Mode = Go
			g.addSite(site)
		case u.called:
			g.addSite(site)
		}
		return
	}
	// It is no argument of a known callee.
	if yieldBody(fn) {
		g.addSite(Site{Instr: call, Caller: caller, Callee: fn, Mode: Call})
		return
	}
	g.escapes[fn] = true
}

// yieldBody reports whether f is the body of a range-over-func loop; its
// iterator runs it before the loop ends.
func yieldBody(f *ssa.Function) bool {
	return f.Parent() != nil && strings.HasPrefix(f.Synthetic, "range-over-func")
}

// ParallelSubtest reports whether s hands a subtest to (*testing.T).Run that
// calls Parallel itself: its goroutine goes on together with others of the kind
// once the function that called Run has returned.
func ParallelSubtest(s Site) bool {
	if s.Through == nil || s.Through.String() != "(*testing.T).Run" || len(s.Callee.Params) != 1 {
		return false
	}
	return callsParallel(s.Callee)
}

// callsParallel reports whether f, a test, calls Parallel itself.
func callsParallel(f *ssa.Function) bool {
	return slices.ContainsFunc(*f.Params[0].Referrers(), func(ref ssa.Instruction) bool {
		call, ok := ref.(*ssa.Call)
		return ok && call.Call.StaticCallee() != nil && call.Call.StaticCallee().String() == "(*testing.T).Parallel"
	})
}

// paramUse returns how fn uses its parameter i, a function.
func (g *Graph) paramUse(fn *ssa.Function, i int) use {
	if u, ok := stdUse(fn); ok {
		return u
	}
	if len(fn.Blocks) == 0 {
		return g.importedUse(fn, i)
	}
	key := paramKey{fn, i}
	if u := g.params[key]; u != nil {
		return *u
	}
	u := new(use)
	g.params[key] = u // recursion adds nothing new
	if i < len(fn.Params) {
		g.sumUses(fn.Params[i], u, false)
	} else {
		u.lost = true
	}
	return *u
}

func (g *Graph) importedUse(fn *ssa.Function, i int) use {
	var fact FuncParams
	if obj, ok := fn.Object().(*types.Func); ok && g.pass.ImportObjectFact(obj, &fact) {
		switch fact.Uses[i] {
		case "call":
			return use{called: true}
		case "go":
			return use{started: true}
		}
	}
	return use{lost: true}
}

// sumUses adds the uses of v to u; async is true if v is used in a
// goroutine that the function started.
func (g *Graph) sumUses(v ssa.Value, u *use, async bool) {
	for _, ref := range *v.Referrers() {
		switch ref := ref.(type) {
		case ssa.CallInstruction:
			g.sumCall(v, ref, u, async)
		case *ssa.ChangeType:
			g.sumUses(ref, u, async)
		case *ssa.BinOp, *ssa.DebugRef: // compared with nil
		case *ssa.Store:
			g.sumCell(v, ref, u, async)
		default:
			u.lost = true
		}
	}
}

func (g *Graph) sumCall(v ssa.Value, call ssa.CallInstruction, u *use, async bool) {
	async = async || modeOf(call) == Go
	if call.Common().Value == v && !call.Common().IsInvoke() {
		u.called, u.started = u.called || !async, u.started || async
		return
	}
	target, args := Target(call.Common())
	for i, a := range args {
		if a == v && target != nil {
			inner := g.paramUse(target, i)
			u.lost = u.lost || inner.lost
			u.started = u.started || inner.started || async
			u.called = u.called || inner.called && !async
			return
		}
	}
	u.lost = true
}

// sumCell follows a parameter that closures of its function capture.
func (g *Graph) sumCell(v ssa.Value, st *ssa.Store, u *use, async bool) {
	alloc, ok := st.Addr.(*ssa.Alloc)
	if !ok || st.Val != v {
		u.lost = true
		return
	}
	// A value is lost that is assigned again. So no walk comes back to a variable, as
	// it would in `g := f; f = g`.
	u.lost = u.lost || slices.ContainsFunc(*alloc.Referrers(), func(ref ssa.Instruction) bool {
		other, ok := ref.(*ssa.Store)
		return ok && other != st
	})
	if u.lost {
		return
	}
	for _, ref := range *alloc.Referrers() {
		switch ref := ref.(type) {
		case *ssa.UnOp:
			g.sumUses(ref, u, async)
		case *ssa.MakeClosure:
			g.sumCaptured(alloc, ref, u, async)
		case *ssa.Store:
		default:
			u.lost = true
		}
	}
}

func (g *Graph) sumCaptured(cell ssa.Value, mk *ssa.MakeClosure, u *use, async bool) {
	if g.summing[mk] {
		return // a closure that captures itself, to recurse
	}
	g.summing[mk] = true
	defer delete(g.summing, mk)
	var closure use
	g.sumUses(mk, &closure, async)
	u.lost = u.lost || closure.lost
	fn := mk.Fn.(*ssa.Function)
	for i, b := range mk.Bindings {
		if b != cell {
			continue
		}
		for _, ref := range *fn.FreeVars[i].Referrers() {
			if load, ok := ref.(*ssa.UnOp); ok {
				g.sumUses(load, u, closure.started)
			} else {
				u.lost = true
			}
		}
	}
}

// exportParams exports, for importing packages, how functions use functions that they are handed.
func (g *Graph) exportParams() {
	for _, f := range g.prog.Funcs {
		obj, ok := f.Object().(*types.Func)
		if !ok || !obj.Exported() || g.prog.InTest(f) {
			continue
		}
		fact := &FuncParams{Uses: map[int]string{}}
		for i, p := range f.Params {
			if _, ok := p.Type().Underlying().(*types.Signature); !ok {
				continue
			}
			switch u := g.paramUse(f, i); {
			case u.lost:
			case u.started:
				fact.Uses[i] = "go"
			case u.called:
				fact.Uses[i] = "call"
			}
		}
		if len(fact.Uses) > 0 {
			g.pass.ExportObjectFact(obj, fact)
		}
	}
}

var _ analysis.Fact = (*FuncParams)(nil)
