package lockset

import (
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/internal/knowledge"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
)

// Kept is a way on which a lock is still held that other ways release:
//
//	for _, s := range all {
//		s.mu.Lock()
//		if s.closed {
//			continue // with the lock
//		}
//		s.n++
//		s.mu.Unlock()
//	}
type Kept struct {
	Held
	// Branch decides for the way: its condition is Holds.
	Branch *ssa.If
	Holds  bool
	// Return is where the way ends; nil if it leads to the next round of the loop.
	Return *ssa.Return

	another bool // the next round takes the lock of another object
}

// Kept lists ways from the locks that fn takes itself to a return, or to the same Lock in another round, on which
// the lock stays held while others release it; each lock once. Ways that conditions rule out do not count, nor do
// rounds that hand on the object of the lock.
func (r *Result) Kept(fn *ssa.Function, work *ir.Work) []Kept {
	if r.quiet[fn] {
		return nil
	}
	w := ways{r: r, fn: fn, flow: r.prog.Flow(fn), conditions: repeated(fn), work: work}
	if len(w.conditions) > knowledge.ConditionsSplit {
		return nil
	}
	// The locks that the function takes itself, and the calls that it defers.
	var locks []*ssa.Call
	for instr := range ir.Instructions(fn) {
		switch instr := instr.(type) {
		case *ssa.Defer:
			w.defers = append(w.defers, instr)
		case *ssa.Call:
			o, ok := r.lockOp(&instr.Call)
			if ok && (o.kind == lock || o.kind == rlock) && o.path.Root != nil && !instr.Call.IsInvoke() {
				locks = append(locks, instr)
			}
		}
	}
	var list []Kept
	for _, call := range locks {
		if r.wrapsLock(call) {
			continue
		}
		if k, ok := w.followLock(call); ok {
			list = append(list, k)
		}
	}
	return list
}

// ways searches the ways through a function.
type ways struct {
	r          *Result
	fn         *ssa.Function
	flow       *ir.Flow
	conditions []condition
	defers     []*ssa.Defer
	work       *ir.Work
}

// decision is the last branch of a way in this round, if any, and whether its condition holds on the way.
type decision struct {
	branch *ssa.If
	holds  bool
}

// way is where a search has come to with the lock held.
type way struct {
	splitPoint
	last  decision
	round bool // the loop has begun another round
	state *State
}

// followed is a lock from which the ways through the function are searched.
type followed struct {
	call *ssa.Call
	op
	object   ssa.Value // leads to the lock
	as       hold
	released bool   // on some way
	renewed  bool   // so that the loop may take it, or that of another object, in the next round
	kept     []Kept // ways on which it is not released
}

// followLock follows the lock that call takes until it is released, and returns the first way on which it is not.
func (w *ways) followLock(call *ssa.Call) (Kept, bool) {
	o, _ := w.r.lockOp(&call.Call)
	l := followed{call: call, op: o, object: objectOf(call.Call.Args[0])}
	l.as = hold{status: held, since: call, class: o.class}
	if o.kind == rlock {
		l.as.status = heldRead
	}
	type visit struct {
		splitPoint
		last  decision
		round bool
	}
	seen := map[visit]bool{}
	list := []way{{splitPoint: splitPoint{call.Block(), w.decided(call.Block())}, state: w.afterLock(&l)}}
	for ; len(list) > 0 && len(seen) < knowledge.StatesSplit; list = list[1:] {
		at := list[0]
		instrs := at.block.Instrs
		if len(seen) == 0 {
			instrs = instrs[w.flow.Index(call)+1:]
		}
		if !w.passBlock(&l, &at, instrs) {
			continue
		}
		for i, succ := range at.block.Succs {
			facts, possible := outcomesTaken(at.known, w.conditions, at.block, i)
			if !possible {
				continue
			}
			next := way{splitPoint{succ, facts}, at.last, at.round || succ.Dominates(call.Block()), at.state}
			if branch, ok := at.block.Instrs[len(at.block.Instrs)-1].(*ssa.If); ok && !at.round {
				next.last = decision{branch, i == 0}
			}
			if v := (visit{next.splitPoint, next.last, next.round}); !seen[v] {
				seen[v] = true
				list = append(list, next)
			}
		}
	}
	// Somebody has to release it on another way, or it is meant to stay. Many objects may be locked in a loop.
	for _, k := range l.kept {
		if l.renewed || l.released && k.Return != nil || l.released && !k.another {
			return k, true
		}
	}
	return Kept{}, false
}

// passBlock follows a way through instructions of its block, and reports whether the lock is still held behind them.
func (w *ways) passBlock(l *followed, at *way, instrs []ssa.Instruction) bool {
	w.work.Spend(len(instrs))
	f := flow{r: w.r}
	for _, instr := range instrs {
		// The next round, or the end of the function.
		switch instr := instr.(type) {
		case *ssa.Call:
			if instr == l.call {
				if at.last.branch != nil {
					l.kept = append(l.kept, Kept{Held: l.as.heldAt(l.path), Branch: at.last.branch, Holds: at.last.holds,
						another: at.state.locks[l.path].status == absent})
				}
				return false
			}
		case *ssa.Return:
			if at.last.branch != nil {
				l.kept = append(l.kept, Kept{Held: l.as.heldAt(l.path), Branch: at.last.branch, Holds: at.last.holds,
					Return: instr})
			}
			return false
		}
		if handsOn(instr, l.object) {
			return false
		}
		// Released?
		at.state = f.stepInstruction(at.state, instr, nil)
		at.known = forget(at.known, w.conditions, instr)
		if !at.state.onlyHeld() {
			l.released = true
			l.renewed = l.renewed || w.flow.Follows(at.block, l.call.Block())
			return false
		}
	}
	return true
}

// afterLock returns the state behind the Lock: calls that are deferred before it count, too.
func (w *ways) afterLock(l *followed) *State {
	w.work.Spend(len(w.defers))
	s := (&State{}).withHold(l.path, l.as)
	for _, d := range w.defers {
		if w.flow.Leads(d, l.call) {
			s = s.withDefer(d)
		}
	}
	return s
}

// decided returns the outcomes of the branches that lead to b alone.
func (w *ways) decided(b *ssa.BasicBlock) known {
	k := known(slices.Repeat([]byte{'?'}, len(w.conditions)))
	if len(w.conditions) == 0 {
		return k
	}
	for d := b; d.Idom() != nil; d = d.Idom() {
		for i, succ := range d.Idom().Succs {
			if succ == d && len(d.Preds) == 1 {
				k, _ = outcomesTaken(k, w.conditions, d.Idom(), i)
			}
		}
	}
	return k
}

// onlyHeld reports whether all locks of the state are surely held.
func (s *State) onlyHeld() bool {
	for _, h := range s.locks {
		if h.status != held && h.status != heldRead {
			return false
		}
	}
	return len(s.locks) > 0
}

// objectOf returns the value that leads to the lock in a struct.
func objectOf(lock ssa.Value) ssa.Value { return ir.Root(lock, ir.Field) }

// handsOn reports whether instr may hand on the object of a lock, so that somebody else may release it:
//
//	locked = append(locked, s)
func handsOn(instr ssa.Instruction, object ssa.Value) bool {
	if _, computed := object.(ssa.Instruction); !computed {
		return false // it was there before
	}
	switch instr := instr.(type) {
	case *ssa.Store:
		return instr.Val == object
	case *ssa.MapUpdate:
		return instr.Value == object || instr.Key == object
	case *ssa.Send:
		return instr.X == object
	case *ssa.MakeInterface:
		return instr.X == object
	case *ssa.MakeClosure:
		return slices.Contains(instr.Bindings, object)
	case *ssa.Phi:
		return slices.Contains(instr.Edges, object)
	}
	return false
}
