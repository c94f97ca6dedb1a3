package validate

import (
	"maps"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/pass/callgraph"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
	"github.com/interlock-go/interlock/patchgen/internal/facts"
	"github.com/interlock-go/interlock/patchgen/internal/session"
)

// The lockset pass knows the locks that have a name. The piles count those that it loses: of objects that nobody can
// name afterwards, as a loop locks all of a list, and those that a callee leaves locked for its caller.
//
//	for _, s := range all {
//		s.mu.Lock()
//	}
//	first := all[0].value()	// under the locks of all

// pile is how many locks of each class may be held; many stands for any number.
type pile map[string]int

const many = 4

// plus returns the pile with n more locks of a class. It never changes p.
func (p pile) plus(class string, n int) pile {
	now := max(0, min(many, p[class]+n))
	if now == p[class] {
		return p
	}
	if p = maps.Clone(p); p == nil {
		p = pile{}
	}
	if p[class] = now; now == 0 {
		delete(p, class)
	}
	return p
}

// join returns the most that either way may hold.
func (p pile) join(q pile) pile {
	for class, n := range q {
		p = p.plus(class, max(0, n-p[class]))
	}
	return p
}

// piles are the locks that a function has taken: all, those of them that callees have left to it, and what it has
// released for its caller.
type piles struct{ taken, left, freed pile }

func (p piles) join(q piles) piles {
	return piles{p.taken.join(q.taken), p.left.join(q.left), p.freed.join(q.freed)}
}

func (p piles) equal(q piles) bool {
	return maps.Equal(p.taken, q.taken) && maps.Equal(p.left, q.left) && maps.Equal(p.freed, q.freed)
}

// release returns the piles after n locks of a class are released. One of many leaves many.
func (p piles) release(class string, n int) piles {
	switch have := p.taken[class]; {
	case have == 0:
		p.freed = p.freed.plus(class, n)
	case n >= many:
		p.taken, p.left = p.taken.plus(class, -many), p.left.plus(class, -many)
	case have < many:
		p.taken = p.taken.plus(class, -n)
		p.left = p.left.plus(class, min(0, p.taken[class]-p.left[class]))
	}
	return p
}

// after returns the piles after a call that leaves and releases locks.
func (p piles) after(e piles) piles {
	for class, n := range e.freed {
		p = p.release(class, n)
	}
	for class, n := range e.taken {
		p.taken, p.left = p.taken.plus(class, n), p.left.plus(class, n)
	}
	return p
}

// unnamed lists the classes of which locks may be held that the lockset pass does not know.
func (p piles) unnamed() []string {
	var classes []string
	for class, n := range p.taken {
		if n == many || p.left[class] > 0 {
			classes = append(classes, class)
		}
	}
	return classes
}

// pileUp is what is known of the locks of one function.
type pileUp struct {
	end    piles // at its return
	before map[ssa.Instruction]piles
}

// pilesOf returns the piles of a function. Recursive calls do nothing.
func (s *state) pilesOf(fn *ssa.Function) *pileUp {
	if known := s.piles[fn]; known != nil {
		return known
	}
	up := &pileUp{}
	s.piles[fn] = up
	w := &pileWalk{state: s, pkg: s.Of(fn), fn: fn, effects: map[ssa.CallInstruction]piles{}}
	if w.collect(); len(w.effects) > 0 {
		*up = w.solve()
	}
	return up
}

// pileWalk follows the locks of one function.
type pileWalk struct {
	*state
	pkg     *session.Package
	fn      *ssa.Function
	effects map[ssa.CallInstruction]piles // of the calls that do something to locks
}

// collect finds what the calls of the function do to locks.
func (w *pileWalk) collect() {
	for instr := range ir.Instructions(w.fn) {
		call, ok := instr.(ssa.CallInstruction)
		if _, isGo := instr.(*ssa.Go); !ok || isGo {
			continue
		}
		if e := w.effect(call); len(e.taken)+len(e.freed) > 0 {
			w.effects[call] = e
		}
	}
}

// effect returns what a call leaves locked, and what it releases of its caller's.
func (w *pileWalk) effect(call ssa.CallInstruction) (e piles) {
	if class := facts.ClassOf(w.pkg, call); class != "" {
		switch facts.MethodName(call) {
		case "Lock", "RLock":
			e.taken = e.taken.plus(class, 1)
		case "Unlock", "RUnlock":
			e.freed = e.freed.plus(class, 1)
		}
		return e
	}
	fn, _ := callgraph.Target(call.Common())
	targets := w.Calls.Runs(call)
	if made := w.returned(call.Common().Value); len(made) > 0 {
		targets = made
	}
	for i, t := range targets {
		one := w.pilesOf(t).end
		switch {
		// One of those that it may be: what all of them release.
		case fn == nil && i > 0:
			for class, n := range e.freed {
				e.freed = e.freed.plus(class, min(0, one.freed[class]-n))
			}
			e.taken = e.taken.join(one.taken)
		// What is handed over may run any number of times.
		case fn != nil && t != fn:
			for class := range one.taken {
				e.taken = e.taken.plus(class, many)
			}
			for class := range one.freed {
				e.freed = e.freed.plus(class, many)
			}
		default:
			e.taken, e.freed = e.taken.join(one.taken), e.freed.join(one.freed)
		}
	}
	return e
}

// returned lists the literals that v may be, if it is what a function of the module returned:
//
//	unlock := lockBoth(a, b)
func (w *pileWalk) returned(v ssa.Value) (list []*ssa.Function) {
	call, ok := v.(*ssa.Call)
	if !ok {
		return nil
	}
	fn, _ := callgraph.Target(call.Common())
	fn = w.Calls.Declared(fn)
	if fn == nil {
		return nil
	}
	for _, block := range fn.Blocks {
		if ret, ok := block.Instrs[len(block.Instrs)-1].(*ssa.Return); ok {
			made, isLiteral := ret.Results[0].(*ssa.MakeClosure)
			if !isLiteral {
				return nil
			}
			list = append(list, made.Fn.(*ssa.Function))
		}
	}
	return list
}

// solve follows the blocks until nothing changes: what comes to a block only grows, up to many.
func (w *pileWalk) solve() pileUp {
	loops := w.loops()
	up := pileUp{before: map[ssa.Instruction]piles{}}
	in := map[*ssa.BasicBlock]piles{w.fn.Blocks[0]: {}}
	for work := w.fn.Blocks[:1:1]; len(work) > 0; work = work[1:] {
		b := work[0]
		now := in[b]
		for _, instr := range b.Instrs {
			switch instr := instr.(type) {
			case *ssa.Call:
				up.before[instr] = now
				now = now.after(w.effects[instr])
			case *ssa.RunDefers:
				up.before[instr] = now
				now = w.afterDeferred(instr, now)
			case *ssa.Return:
				up.end = up.end.join(now)
			}
		}
		// Where a loop ends that has released what it came to, nothing of that is left.
		for _, next := range b.Succs {
			out := now
			if loop := loops[b]; loop != nil && !loop.blocks[next] {
				for _, class := range loop.empties {
					out = out.release(class, many)
				}
			}
			have, seen := in[next]
			if all := have.join(out); !seen || !all.equal(have) {
				in[next] = all
				work = append(work, next)
			}
		}
	}
	return up
}

// afterDeferred returns the piles behind the calls that were deferred: those of a loop for each of its rounds.
func (w *pileWalk) afterDeferred(at ssa.Instruction, now piles) piles {
	flow := w.pkg.IR.Flow(w.fn)
	for call, e := range w.effects {
		d, ok := call.(*ssa.Defer)
		if !ok || !flow.Leads(d, at) {
			continue
		}
		now = now.after(e)
		if flow.Leads(d, d) {
			for class := range e.freed {
				now = now.release(class, many)
			}
		}
	}
	return now
}

// pileLoop is a loop, by the block that every round begins with.
type pileLoop struct {
	blocks  map[*ssa.BasicBlock]bool
	empties []string // classes of which it releases locks, and takes none
}

// loops returns the loops of the function by their first blocks.
func (w *pileWalk) loops() map[*ssa.BasicBlock]*pileLoop {
	found := map[*ssa.BasicBlock]*pileLoop{}
	for _, last := range w.fn.Blocks {
		for _, first := range last.Succs {
			if !first.Dominates(last) {
				continue
			}
			if found[first] == nil {
				found[first] = &pileLoop{blocks: map[*ssa.BasicBlock]bool{first: true}}
			}
			// The blocks that lead to the last one without the first.
			for work := []*ssa.BasicBlock{last}; len(work) > 0; work = work[1:] {
				if b := work[0]; !found[first].blocks[b] {
					found[first].blocks[b] = true
					work = append(work, b.Preds...)
				}
			}
		}
	}
	for _, loop := range found {
		var all piles
		for call, e := range w.effects {
			if _, isCall := call.(*ssa.Call); isCall && loop.blocks[call.Block()] {
				all = all.join(e)
			}
		}
		for class := range all.freed {
			if all.taken[class] == 0 {
				loop.empties = append(loop.empties, class)
			}
		}
	}
	return found
}
