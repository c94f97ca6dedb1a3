package lockset

import (
	"cmp"
	"fmt"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
	"github.com/interlock-go/interlock/analyzers/pass/callgraph"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
)

// effect is the change of one lock by a call.
type effect struct {
	path   accesspath.Path // rooted in a parameter, a package variable, or a captured value
	status status
	class  string
	param  int // parameter that roots an imported effect, as its path has no root
}

// inCaller returns the lock as the caller names it, given the arguments.
func (e effect) inCaller(fn *ssa.Function, args []ssa.Value) (accesspath.Path, bool) {
	i := e.param
	if e.path.Root != nil {
		if i = e.path.Param(fn); i < 0 {
			return e.path, true
		}
	}
	if i >= len(args) {
		return accesspath.Path{}, false
	}
	return accesspath.Of(args[i]).Plus(e.path.Fields), true
}

// perhaps returns the effect of a call that may not happen.
func (e effect) perhaps() effect {
	switch e.status {
	case held, heldRead:
		e.status = maybe
	case released:
		e.status = unsure
	}
	return e
}

// afterCall returns the state after a call with effect e on the lock at p.
func (s *State) afterCall(e effect, p accesspath.Path, call ssa.Instruction) *State {
	switch e.status {
	case held, heldRead:
		if h := s.locks[p]; h.status == held || h.status == e.status {
			return s
		}
		return s.acquire(p, hold{status: e.status, since: call, class: e.class})
	case released:
		return s.release(p, e.class)
	case maybe:
		if s.locks[p].status == absent {
			return s.withHold(p, hold{status: maybe, class: e.class})
		}
	case unsure:
		if h := s.locks[p]; h.status == held || h.status == heldRead {
			return s.withHold(p, hold{status: maybe, class: h.class})
		}
	}
	return s
}

// Effects is the fact of how a function changes locks, relative to its
// parameters (receiver first).
type Effects struct {
	// Locks lists the locks with another state after the call.
	Locks []Effect
	// Takes lists the locks that the function may acquire while it runs,
	// callees included.
	Takes []Taken
	// Under lists, for parameters of function type that it calls, the
	// locks held around the call.
	Under map[int][]Effect
}

// Effect is the state of one lock after a call.
type Effect struct {
	Param  int    // index of the parameter that the lock is reached from
	Fields string // ".mu"
	Status int    // see status; part of the fact's encoding
	Class  string
}

// AFact marks Effects as a fact.
func (*Effects) AFact() {}

func (e *Effects) String() string {
	var parts []string
	for _, l := range e.Locks {
		verb := map[status]string{held: "acquires", heldRead: "read-acquires", released: "releases"}[status(l.Status)]
		parts = append(parts, fmt.Sprintf("%s %d%s", cmp.Or(verb, "may change"), l.Param, l.Fields))
	}
	var classes []string
	for _, t := range e.Takes {
		if !slices.Contains(classes, t.Class) {
			classes = append(classes, t.Class)
		}
	}
	if len(classes) > 0 {
		parts = append(parts, "takes "+strings.Join(classes, ", "))
	}
	return strings.Join(parts, "; ")
}

// effects returns the changes of locks by a call of fn. Recursive calls change none.
func (r *Result) effects(fn *ssa.Function) []effect {
	if e, ok := r.summaries[fn]; ok {
		return e
	}
	r.summaries[fn] = nil
	if len(fn.Blocks) == 0 {
		r.summaries[fn] = r.importedEffects(fn)
		return r.summaries[fn]
	}
	r.quiet[fn] = !r.touchesLocks(fn)
	f := &flow{r: r}
	f.solveStates(fn, &State{})
	r.local[fn] = f
	if f.quiet == nil {
		r.summaries[fn] = f.atReturns(fn)
	}
	return r.summaries[fn]
}

// touchesLocks leaves out the many functions in which no lock changes, itself
// or by a call.
func (r *Result) touchesLocks(fn *ssa.Function) bool {
	touches := false
	for instr := range ir.Instructions(fn) {
		touches = touches || r.IsTurn(instr)
		call, ok := instr.(ssa.CallInstruction)
		if !ok {
			continue
		}
		_, _, isFlag := r.flagOp(call.Common())
		touches = touches || isFlag
		if callee, _ := callgraph.Target(call.Common()); callee != nil && len(r.effects(callee)) > 0 {
			touches = true
		}
		for _, s := range r.callbacks(call) {
			touches = touches || len(r.effects(s.Callee)) > 0
		}
		_, isDefer := instr.(*ssa.Defer)
		if _, isLock := r.callOp(call); isLock || isDefer {
			touches = true
		}
	}
	return touches
}

// atReturns joins the states of all returns into effects.
func (f *flow) atReturns(fn *ssa.Function) []effect {
	var end *State
	f.walkBlocks(fn, func(instr ssa.Instruction, s *State) {
		if _, ok := instr.(*ssa.Return); ok {
			end = joinStates(end, s)
		}
	})
	if end == nil {
		return nil
	}
	var effects []effect
	for p, h := range end.locks {
		if visible(p, fn) && !h.back {
			effects = append(effects, effect{path: p, status: h.status, class: h.class})
		}
	}
	slices.SortFunc(effects, func(a, b effect) int { return cmp.Compare(a.path.String(), b.path.String()) })
	return effects
}

// visible reports whether callers of fn can name the lock at p.
func visible(p accesspath.Path, fn *ssa.Function) bool {
	if _, ok := p.Global(); ok {
		return true
	}
	return p.Param(fn) >= 0 || p.Root != nil && p.Root.Parent() != fn
}

func (r *Result) importedEffects(fn *ssa.Function) []effect {
	var fact Effects
	obj, ok := fn.Object().(*types.Func)
	if !ok || !r.pass.ImportObjectFact(obj, &fact) {
		return nil
	}
	return imported(fact.Locks)
}

func imported(list []Effect) []effect {
	var effects []effect
	for _, l := range list {
		effects = append(effects, effect{
			path: accesspath.Path{Fields: l.Fields}, status: status(l.Status), class: l.Class, param: l.Param,
		})
	}
	return effects
}

// Outlives reports whether some exported function returns with a lock of the
// class held, as a Begin does where Commit unlocks. In between any code may
// run under the lock, and none of it shows that.
func (r *Result) Outlives(class string) bool { return r.outlives[class] }

func (r *Result) findOutliving() {
	for _, fn := range r.prog.Funcs {
		if _, isLockMethod := kinds[fn.Name()]; isLockMethod || !r.graph.Open(fn) {
			continue
		}
		for _, e := range r.summaries[fn] {
			surely := e.status == held || e.status == heldRead
			if e.class != "" && (surely || e.status == maybe && !r.defersRelease(fn, e.class)) {
				r.outlives[e.class] = true
			}
		}
	}
}

// defersRelease reports whether fn defers a function that unlocks a lock of
// the class, be it on a condition: then it means to return without it.
func (r *Result) defersRelease(fn *ssa.Function, class string) bool {
	for instr := range ir.Instructions(fn) {
		d, ok := instr.(*ssa.Defer)
		if !ok {
			continue
		}
		target, _ := callgraph.Target(d.Common())
		if target == nil {
			continue
		}
		for _, e := range r.effects(target) {
			if e.class == class && (e.status == released || e.status == unsure) {
				return true
			}
		}
	}
	return false
}
