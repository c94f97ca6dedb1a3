package validate

import (
	"fmt"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
	"github.com/interlock-go/interlock/analyzers/pass/callgraph"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
	"github.com/interlock-go/interlock/analyzers/pass/lockset"
	"github.com/interlock-go/interlock/analyzers/pass/syncops"
	"github.com/interlock-go/interlock/patchgen/internal/facts"
	"github.com/interlock-go/interlock/patchgen/internal/session"
)

// waits demands that nothing comes under a lock that may wait for others, do
// I/O, or run code that nobody knows. A function of the module that is called under that lock elsewhere may do the
// last two: the author holds it there. It may not wait for others, who need the lock perhaps only where it is new.
func (j *judge) waits() { j.waitsExcept(func(step) bool { return false }) }

// waitsExcept is waits, except for steps that are judged by themselves.
func (j *judge) waitsExcept(isJudged func(step) bool) {
	old, _ := j.steps(j.old)
	now, found := j.steps(j.now)
	for _, k := range now.more(old) {
		x := found[k]
		if isJudged(x) {
			continue
		}
		why := j.now.Hazard(x.step)
		isHeldThere := why != "" && j.old.HeldAround()[x.under] && j.now.Awaits(x.step) == ""
		if why != "" && !isHeldThere {
			j.waitsOf(x, short(k.function), why)
		}
	}
}

// step is an instruction that may wait or call.
type step struct {
	pkg   *session.Package
	step  ssa.Instruction
	under string // see heldCall; "" for what is no call
	// eachRound: it stands in a loop that the lock is held around.
	eachRound bool
}

// steps counts, in touched functions, the calls and waits under each lock.
func (j *judge) steps(s *side) (tally, map[tallyKey]step) {
	count, found := tally{}, map[tallyKey]step{}
	j.eachTouched(s, func(p *session.Package, fn *ssa.Function, instr ssa.Instruction, st *lockset.State) {
		for _, k := range st.Known() {
			if !st.MayHold(k.Path) {
				continue
			}
			lock := lockName(k.Path, k.Class)
			if k.Class != "" && isReadHeld(st, k.Class) {
				lock += " for reading" // the write side in its place is new
			}
			add := func(x ssa.Instruction, what, under string) {
				key := tallyKey{declared(p, fn), lock + " " + what}
				count[key]++
				found[key] = step{p, x, under, isHeldAround(p, instr, st, k.Path)}
			}
			if what := facts.Waiting(instr); what != "" {
				add(instr, what, "")
			}
			for _, call := range facts.CallsRunAt(p, instr) {
				if !facts.Released(p, call, instr, k.Class) {
					add(call, callee(call), s.HeldCall(call, k.Class))
				}
			}
		}
	})
	return count, found
}

// isHeldAround reports whether an instruction stands in a loop, and the lock of a path is held around that.
func isHeldAround(p *session.Package, instr ssa.Instruction, st *lockset.State, lock accesspath.Path) bool {
	return callgraph.InLoop(instr.Block()) && slices.ContainsFunc(st.Held(), func(h lockset.Held) bool {
		isOfLoop := h.Since != nil && h.Since.Parent() == instr.Parent() && p.IR.Flow(instr.Parent()).Leads(instr, h.Since)
		return h.Path == lock && !isOfLoop
	})
}

// channels demands that nobody who is waited for while the lock is held needs
// the lock before, unless it was so already.
func (j *judge) channels() {
	old := j.needy(j.old)
	for _, k := range j.needy(j.now).more(old) {
		j.add("channels", "%s %s", short(k.function), k.what)
	}
}

// otherSides are the operations that end a wait.
var otherSides = map[finding.Mode][]finding.Mode{
	finding.Send: {finding.Receive}, finding.Receive: {finding.Send, finding.CloseChan}, finding.Wait: {finding.Done},
}

// needy counts the operations that end a wait under the claim's lock and come
// behind it.
func (j *judge) needy(s *side) tally {
	found := tally{}
	for _, p := range s.Packages {
		for _, op := range p.Ops.All {
			if otherSides[op.Mode] == nil || op.Polls || !s.mayHold(op.Locks) {
				continue
			}
			for _, other := range append(slices.Clone(p.Ops.ByKey[op.Key]), s.aliases(p, op)...) {
				if !slices.Contains(otherSides[op.Mode], other.Mode) || !s.needs(p, other) {
					continue
				}
				what := fmt.Sprintf("takes %s before it comes to what %s waits for under the lock",
					short(s.claim.Lock), short(declared(p, op.Fn)))
				found[tallyKey{declared(p, other.Fn), what}]++
			}
		}
	}
	return found
}

// aliases lists the operations on channels that came as a parameter or a result,
// so that nobody knows which they are, with the element type of the channel of op:
// any of them may be that.
func (s *side) aliases(p *session.Package, op *syncops.Op) []*syncops.Op {
	want := elementOf(op.Instr, op.Mode)
	if want == "" {
		return nil
	}
	var list []*syncops.Op
	for _, other := range s.unnamed(p) {
		if elementOf(other.Instr, other.Mode) == want {
			list = append(list, other)
		}
	}
	return list
}

// unnamed lists the sends and receives of the package that the syncops pass leaves out, as
// their channel has no name. Those of a select with several cases wait for others too.
func (s *side) unnamed(p *session.Package) []*syncops.Op {
	if list, known := s.unnamedOps[p]; known {
		return list
	}
	named := map[ssa.Instruction]bool{}
	for _, op := range p.Ops.All {
		named[op.Instr] = true
	}
	list := []*syncops.Op{}
	each(p, func(fn *ssa.Function, instr ssa.Instruction, st *lockset.State) {
		mode := finding.Mode("")
		switch x := instr.(type) {
		case *ssa.Send:
			mode = finding.Send
		case *ssa.UnOp:
			if x.Op == token.ARROW {
				mode = finding.Receive
			}
		}
		if mode != "" && !named[instr] {
			list = append(list, &syncops.Op{Mode: mode, Instr: instr, Fn: fn, Locks: st, Pos: instr.Pos()})
		}
	})
	s.unnamedOps[p] = list
	return list
}

// elementOf returns the element type of the channel of a send or receive as text; "" for other operations.
func elementOf(instr ssa.Instruction, mode finding.Mode) string {
	var ch ssa.Value
	switch x := instr.(type) {
	case *ssa.Send:
		ch = x.Chan
	case *ssa.UnOp:
		ch = x.X
	case *ssa.Select:
		if len(x.States) == 1 {
			ch = x.States[0].Chan
		}
	}
	if ch == nil || mode != finding.Send && mode != finding.Receive {
		return ""
	}
	t, ok := ch.Type().Underlying().(*types.Chan)
	if !ok {
		return ""
	}
	return types.TypeString(t.Elem(), nil)
}

// mayHold reports whether the claim's lock may be held.
func (s *side) mayHold(st *lockset.State) bool {
	return slices.ContainsFunc(st.Known(), func(k lockset.Known) bool {
		return st.MayHold(k.Path) && s.isLock(lockset.Held{Path: k.Path, Class: k.Class})
	})
}

// needs reports whether the function of an operation may take the claim's lock
// on the way to it. A deferred operation comes last.
func (s *side) needs(p *session.Package, op *syncops.Op) bool {
	_, deferred := op.Instr.(*ssa.Defer)
	for instr := range ir.Instructions(op.Fn) {
		call, ok := instr.(*ssa.Call)
		if !ok || !deferred && !p.Ops.Reaches(call, op.Instr) {
			continue
		}
		if s.takesLock(p, call) {
			return true
		}
	}
	return s.mayHold(op.Locks)
}

// takesLock reports whether a call may take the claim's lock.
func (s *side) takesLock(p *session.Package, call ssa.CallInstruction) bool {
	return s.takenBy(p, call).has(s.claim.Lock) || s.locksLocal(p, call)
}

// locksLocal reports whether call takes the claim's lock, a local variable.
func (s *side) locksLocal(p *session.Package, call ssa.CallInstruction) bool {
	lock := p.Locks.Receiver(call)
	return lock != nil && s.claim.isLocalLock() && s.isLock(lockset.Held{Path: accesspath.Of(lock)})
}
