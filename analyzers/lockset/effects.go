package lockset

import (
	"cmp"
	"fmt"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/accesspath"
	"github.com/interlock-go/interlock/analyzers/callers"
)

// effect is what a call does to one lock.
type effect struct {
	path   accesspath.Path // rooted in a parameter, a package variable, or a captured value
	status status
	class  string
	param  int // parameter that roots an imported effect, whose path has no root
}

// in gives the lock as the caller names it, given the arguments.
func (e effect) in(fn *ssa.Function, args []ssa.Value) (accesspath.Path, bool) {
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

// after gives the state after a call with effect e on the lock at p.
func (s *State) after(e effect, p accesspath.Path, call ssa.Instruction) *State {
	switch e.status {
	case held, heldRead:
		if h := s.locks[p]; h.status == held || h.status == e.status {
			return s
		}
		return s.acquire(p, hold{e.status, call, e.class})
	case released:
		return s.release(p)
	case maybe:
		if s.locks[p].status == absent {
			return s.with(p, hold{maybe, nil, e.class})
		}
	case unsure:
		if h := s.locks[p]; h.status == held || h.status == heldRead {
			return s.with(p, hold{maybe, nil, h.class})
		}
	}
	return s
}

// Effects is the fact of what a function does to locks, relative to its
// parameters (receiver first).
type Effects struct {
	// Locks lists what is different after the call.
	Locks []Effect
	// Takes lists the classes of locks that the function may acquire while
	// it runs, callees included.
	Takes []string
	// Under lists, for parameters of function type that it calls, the
	// locks held around the call.
	Under map[int][]Effect
}

// Effect says what becomes of one lock.
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
	if len(e.Takes) > 0 {
		parts = append(parts, "takes "+strings.Join(e.Takes, ", "))
	}
	return strings.Join(parts, "; ")
}

// effects gives what a call of fn does to locks. Recursive calls do nothing.
func (r *Result) effects(fn *ssa.Function) []effect {
	if e, ok := r.summaries[fn]; ok {
		return e
	}
	r.summaries[fn] = nil
	if len(fn.Blocks) == 0 {
		r.summaries[fn] = r.importedEffects(fn)
		return r.summaries[fn]
	}
	if !r.mayTouchLocks(fn) {
		return nil
	}
	f := &flow{r: r}
	f.solve(fn, &State{})
	r.summaries[fn] = f.atReturns(fn)
	return r.summaries[fn]
}

// mayTouchLocks leaves out the many functions that call nothing.
func (r *Result) mayTouchLocks(fn *ssa.Function) bool {
	for _, b := range fn.Blocks {
		for _, instr := range b.Instrs {
			if call, ok := instr.(ssa.CallInstruction); ok {
				if _, builtin := call.Common().Value.(*ssa.Builtin); !builtin {
					return true
				}
			}
		}
	}
	return false
}

// atReturns joins the states of all returns into effects.
func (f *flow) atReturns(fn *ssa.Function) []effect {
	var end *State
	f.walk(fn, func(instr ssa.Instruction, s *State) {
		if _, ok := instr.(*ssa.Return); ok {
			end = join(end, s)
		}
	})
	if end == nil {
		return nil
	}
	var effects []effect
	for p, h := range end.locks {
		if visible(p, fn) {
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

// Takes lists the classes of locks that a call of fn may acquire, callees
// included, in ascending order.
func (r *Result) Takes(fn *ssa.Function) []string { return r.takes[fn] }

// sumTakes computes takes for all functions to a fixed point.
func (r *Result) sumTakes() {
	for changed := true; changed; {
		changed = false
		for _, fn := range r.prog.Funcs {
			before := len(r.takes[fn])
			r.addTakes(fn)
			changed = changed || len(r.takes[fn]) != before
		}
	}
}

func (r *Result) addTakes(fn *ssa.Function) {
	for _, b := range fn.Blocks {
		for _, instr := range b.Instrs {
			call, ok := instr.(ssa.CallInstruction)
			if _, isGo := instr.(*ssa.Go); !ok || isGo {
				continue
			}
			for _, class := range r.TakenBy(call) {
				if i, have := slices.BinarySearch(r.takes[fn], class); !have {
					r.takes[fn] = slices.Insert(r.takes[fn], i, class)
				}
			}
		}
	}
}

// TakenBy lists the classes of locks that a call may block on, but for those
// of goroutines that it starts.
func (r *Result) TakenBy(call ssa.CallInstruction) []string {
	if o, ok := lockOp(call.Common()); ok {
		if o.class != "" && (o.kind == lock || o.kind == rlock) {
			return []string{o.class}
		}
		return nil
	}
	fn, _ := callers.Target(call.Common())
	if fn == nil {
		return nil
	}
	if len(fn.Blocks) > 0 {
		return r.takes[fn]
	}
	var fact Effects
	if obj, ok := fn.Object().(*types.Func); ok && r.pass.ImportObjectFact(obj, &fact) {
		return fact.Takes
	}
	return nil
}

// Outlives reports whether some exported function returns with a lock of the
// class held, as a Begin does whose Commit unlocks. In between any code may
// run under the lock, and none of it shows that.
func (r *Result) Outlives(class string) bool { return r.outlives[class] }

func (r *Result) findOutliving() {
	for _, fn := range r.prog.Funcs {
		if _, isLockMethod := kinds[fn.Name()]; isLockMethod || !r.graph.Open(fn) {
			continue
		}
		for _, e := range r.summaries[fn] {
			if e.class != "" && (e.status == held || e.status == heldRead || e.status == maybe) {
				r.outlives[e.class] = true
			}
		}
	}
}
