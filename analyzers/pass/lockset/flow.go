package lockset

import (
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
	"github.com/interlock-go/interlock/analyzers/pass/callgraph"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
)

// flow is the dataflow through one function from one entry state.
type flow struct {
	r  *Result
	in map[*ssa.BasicBlock]*State
	// quiet, if set, is the state everywhere in the function.
	quiet *State
	// flag, if set, has the entry state by the value of a parameter.
	flag *flagged
	// onCall, if set, sees each call as it runs, deferred ones at the end,
	// and each start of a goroutine, with the state before it.
	onCall func(ssa.CallInstruction, *State)
}

// solveStates finds the state at the start of each block. States only lose locks
// from one round to the next, so it ends. In a function that does nothing to
// locks the state is the same everywhere.
func (f *flow) solveStates(fn *ssa.Function, entry *State) {
	f.quiet = nil
	if f.r.quiet[fn] && len(entry.locks) == 0 && !f.flag.differs() {
		f.quiet = entry
		return
	}
	f.in = map[*ssa.BasicBlock]*State{}
	if len(fn.Blocks) == 0 {
		return
	}
	// From the first block along all ways.
	f.in[fn.Blocks[0]] = entry
	work := []*ssa.BasicBlock{fn.Blocks[0]}
	for len(work) > 0 {
		b := work[0]
		work = work[1:]
		out := f.in[b]
		for _, instr := range b.Instrs {
			out = f.stepInstruction(out, instr, nil)
		}
		for i, succ := range b.Succs {
			if ir.Exhausted(b, i) {
				continue
			}
			next := joinStates(f.in[succ], f.branch(out, b, i))
			if f.in[succ] == nil || !equalStates(next, f.in[succ]) {
				f.in[succ] = next
				work = append(work, succ)
			}
		}
	}
	// The ways that conditions tell apart, and the values that callers pass, have states of their own.
	f.splitWays(fn, entry)
	if f.flag.differs() {
		f.byFlag(fn, f.flag)
	}
}

// walkBlocks visits each reachable instruction with the state before it.
func (f *flow) walkBlocks(fn *ssa.Function, visit func(ssa.Instruction, *State)) {
	for _, b := range fn.Blocks {
		s := f.in[b]
		if f.quiet != nil {
			s = f.quiet
		}
		if s == nil {
			continue
		}
		for _, instr := range b.Instrs {
			if visit != nil {
				visit(instr, s)
			}
			if f.quiet == nil || f.onCall != nil {
				s = f.stepInstruction(s, instr, f.onCall)
			}
		}
	}
}

// stepInstruction returns the state after instr.
func (f *flow) stepInstruction(s *State, instr ssa.Instruction, onCall func(ssa.CallInstruction, *State)) *State {
	if v, ok := instr.(ssa.Value); ok {
		s = s.forgetOld(v)
	}
	switch instr := instr.(type) {
	case *ssa.Store:
		return s.reassign(accesspath.Of(instr.Addr))
	case *ssa.Send, *ssa.UnOp:
		return f.r.afterTurn(s, instr)
	case *ssa.Call:
		if onCall != nil {
			onCall(instr, s)
		}
		return f.applyOp(s, instr)
	case *ssa.Go:
		if onCall != nil {
			onCall(instr, s)
		}
		return f.r.releaseByGoroutine(s, instr)
	case *ssa.Defer:
		return s.withDefer(instr)
	case *ssa.RunDefers: // the last first
		for i := len(s.defers) - 1; i >= 0; i-- {
			if onCall != nil {
				onCall(s.defers[i], s)
			}
			s = f.runDeferred(s, s.defers[i])
		}
	}
	return s
}

// applyOp returns the state after a call has returned.
func (f *flow) applyOp(s *State, call ssa.CallInstruction) *State {
	// The callee may run these functions, or not.
	for _, site := range f.r.callbacks(call) {
		for _, e := range f.r.effects(site.Callee) {
			if p, ok := e.inCaller(site.Callee, site.Args); ok {
				s = s.afterCall(e.perhaps(), p, call)
			}
		}
	}
	// A callee that takes or releases locks of its caller's.
	fn, args := callgraph.Target(call.Common())
	if fn != nil {
		if effects := f.r.effects(fn); len(effects) > 0 && !f.r.canBeOff(call, effects) {
			for _, e := range effects {
				if p, ok := e.inCaller(fn, args); ok {
					s = s.afterCall(e, p, call)
				}
			}
			return s
		}
	}
	// An operation of package sync, or one that works like it.
	o, ok := f.r.callOp(call)
	if !ok {
		return f.r.afterFlag(s, call)
	}
	switch o.kind {
	case lock:
		return s.acquire(o.path, hold{status: held, since: call, class: o.class})
	case rlock:
		return s.acquire(o.path, hold{status: heldRead, since: call, class: o.class})
	case unlock, runlock:
		return s.release(o.path, o.class)
	}
	return s
}

// canBeOff reports whether call is one of Lock or Unlock on a lock that can be
// switched off: its methods lock on some ways only. Taken as a whole it is a
// lock like others; the code that switches it off answers for the consequences.
func (r *Result) canBeOff(call ssa.CallInstruction, effects []effect) bool {
	if _, ok := r.callOp(call); !ok {
		return false
	}
	return slices.ContainsFunc(effects, func(e effect) bool { return e.status == maybe || e.status == unsure })
}

// callbacks lists the functions that are handed to a callee which runs them,
// if it does so at all, as sync.Once does.
func (r *Result) callbacks(call ssa.CallInstruction) []callgraph.Site {
	var list []callgraph.Site
	for _, s := range r.graph.At(call) {
		if s.Through != nil && s.Mode != callgraph.Go && len(s.Callee.Blocks) > 0 {
			list = append(list, s)
		}
	}
	return list
}

// callOp recognises a call as an operation on a lock, also that of a method
// value x.mu.Unlock, which has its receiver bound.
func (r *Result) callOp(call ssa.CallInstruction) (op, bool) {
	if o, ok := r.lockOp(call.Common()); ok {
		return o, true
	}
	if lock := r.unlocks(call.Common()); lock != nil {
		return r.operationOn(unlock, lock), true
	}
	fn, args := callgraph.Target(call.Common())
	if fn == nil || fn.Signature.Recv() == nil || len(args) != 1 {
		return op{}, false
	}
	if k := kinds[fn.Name()]; k != 0 && isLock(args[0].Type()) {
		return r.operationOn(k, args[0]), true
	}
	if k := r.spins[fn]; k != 0 {
		return r.operationOn(k, args[0]), true
	}
	return op{}, false
}

// unlocks returns the lock that a function has been made for which is called without arguments; nil
// if it is any other function:
//
//	unlock := unlockOnce(&s.mu)
//	defer unlock()
func (r *Result) unlocks(call *ssa.CallCommon) ssa.Value {
	maker, ok := call.Value.(*ssa.Call)
	if !ok || call.IsInvoke() || len(call.Args) > 0 || call.Signature().Results().Len() > 0 {
		return nil
	}
	for _, arg := range maker.Call.Args {
		if boxed, ok := arg.(*ssa.MakeInterface); ok {
			arg = boxed.X
		}
		if _, isPtr := arg.Type().Underlying().(*types.Pointer); isPtr && isLock(arg.Type()) {
			return arg
		}
	}
	return nil
}

// branch returns the state on the i-th way out of b: after `if mu.TryLock()`,
// or a flag that was won, the lock is held on the first; after a loop, those of all elements.
func (f *flow) branch(s *State, b *ssa.BasicBlock, i int) *State {
	s = f.atEnd(s, b, i)
	cond, ok := b.Instrs[len(b.Instrs)-1].(*ssa.If)
	if !ok {
		return s
	}
	v, yes := cond.Cond, i == 0
	for {
		not, ok := v.(*ssa.UnOp)
		if !ok || not.Op != token.NOT {
			break
		}
		v, yes = not.X, !yes
	}
	call, ok := v.(*ssa.Call)
	if !ok {
		return s
	}
	// The result says whether a flag was won, or TryLock has the lock.
	if o, won, ok := f.r.flagOp(&call.Call); ok && o.kind == trylock && yes == won {
		return s.acquire(o.path, hold{status: held, since: call, class: o.class})
	}
	if !yes {
		return s
	}
	switch o, _ := f.r.lockOp(&call.Call); o.kind {
	case trylock:
		return s.acquire(o.path, hold{status: held, since: call, class: o.class})
	case tryrlock:
		return s.acquire(o.path, hold{status: heldRead, since: call, class: o.class})
	}
	return s
}
