package validate

import (
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
	"github.com/interlock-go/interlock/analyzers/pass/lockset"
	"github.com/interlock-go/interlock/analyzers/pass/syncops"
	"github.com/interlock-go/interlock/patchgen/internal/facts"
	"github.com/interlock-go/interlock/patchgen/internal/session"
)

// released demands that fewer returns leave a lock held: none does any more of a
// function and lock that the patch corrects, and none that released it.
func (j *judge) released() {
	oldEnds, oldUnclear := j.exitStates(j.old)
	nowEnds, nowUnclear := j.exitStates(j.now)
	if before, after := j.locked(j.old), j.locked(j.now); total(after) >= total(before) {
		j.add("released", "as many returns leave a lock held as before")
	} else {
		for _, k := range after.more(before) {
			j.add("released", "%s returns with %s", short(k.function), k.what)
		}
		for _, k := range after.left(before) {
			j.add("released", "another return of %s still leaves %s held", short(k.function), k.what)
		}
	}
	// What is released at a return now has to be a lock that was held there.
	for _, k := range nowEnds.more(oldEnds) {
		if oldEnds[k] == 0 && j.locked(j.now)[k] > 0 {
			j.add("released", "%s returns with %s", short(k.function), k.what)
		}
	}
	for _, k := range nowUnclear.more(oldUnclear) {
		j.doubt(place{}, finding.Heavy, "released", "if a way leaves it held, this deadlocks", "in %s, %s",
			short(k.function), k.what)
	}
	// The caller may have released what the function left held.
	for _, k := range j.unheld(j.now).more(j.unheld(j.old)) {
		j.add("released", "%s releases %s, which is not held there any more", short(k.function), k.what)
	}
}

// unheld counts the calls that release the claim's lock where it is not known to be held.
func (j *judge) unheld(s *side) tally {
	found := tally{}
	for _, p := range s.Packages {
		each(p, func(fn *ssa.Function, instr ssa.Instruction, st *lockset.State) {
			for _, call := range facts.CallsRunAt(p, instr) {
				releases := facts.Acquired(p, call) == "" && strings.HasSuffix(facts.MethodName(call), "Unlock")
				class := facts.ClassOf(p, call)
				if !releases || class == "" || class != s.claim.Lock {
					continue
				}
				if !st.MayHoldClass(class) && !st.MayHold(accesspath.Of(p.Locks.Receiver(call))) {
					found[tallyKey{declared(p, fn), short(class)}]++
				}
			}
		})
	}
	return found
}

// locked counts the locks that the returns of touched functions leave held, and those that a way out or a round of a
// loop keeps.
func (j *judge) locked(s *side) tally {
	held := tally{}
	for _, p := range s.Packages {
		for _, fn := range p.IR.Funcs {
			if !j.touched[declared(p, fn)] {
				continue
			}
			p.Locks.WalkOwn(fn, func(instr ssa.Instruction, st *lockset.State) {
				if _, returns := instr.(*ssa.Return); returns {
					for _, h := range st.Held() {
						held[tallyKey{declared(p, fn), lockName(h.Path, h.Class)}]++
					}
				}
			})
			finished := ir.Finishes(fn, func(fn *ssa.Function, work *ir.Work) {
				for _, k := range p.Locks.Kept(fn, work) {
					held[tallyKey{declared(p, fn), lockName(k.Path, k.Class) + " on a way"}]++
				}
			})
			if !finished {
				j.doubt(place{}, finding.Heavy, "released", "if a way leaves it held, this deadlocks",
					"%s is too large to search its ways", short(declared(p, fn)))
			}
		}
	}
	return held
}

func total(t tally) int {
	n := 0
	for _, k := range t {
		n += k
	}
	return n
}

// lockedOnce demands that the holder of the claim's lock waits for it in fewer
// places than before, and that no function which the patch corrects surely does.
func (j *judge) lockedOnce() {
	again := func(s *side) tally {
		t := tally{}
		for site, n := range s.lockGraph().sites {
			if site.from == site.to && site.from == s.claim.Lock {
				t[tallyKey{site.function, short(site.to)}] += n
			}
		}
		return t
	}
	before, after := again(j.old), again(j.now)
	if total(after) >= total(before) {
		j.add("locked once", "%s is taken by its holder as often as before", short(j.now.claim.Lock))
	}
	for _, k := range after.more(before) {
		j.add("locked once", "%s takes %s while it is held", short(k.function), k.what)
	}
	for _, k := range j.relocks(j.now).left(j.relocks(j.old)) {
		j.add("locked once", "%s still takes %s while it is held, in another place", short(k.function), k.what)
	}
}

// relocks counts where touched functions take the claim's lock while they surely
// hold the same one. (Another object's lock of the class may be meant to be taken.)
func (j *judge) relocks(s *side) tally {
	t := tally{}
	for _, p := range s.Packages {
		for _, a := range p.Locks.Relocks() {
			if a.First.Class == s.claim.Lock && j.touched[declared(p, a.Fn)] {
				t[tallyKey{declared(p, a.Fn), lockName(a.First.Path, a.First.Class)}]++
			}
		}
	}
	return t
}

// ordered demands that the claim's two locks are taken in one order only, and
// each as often as before.
func (j *judge) ordered() {
	before, after := j.acquisitions(j.old), j.acquisitions(j.now)
	for _, k := range append(before.more(after), after.more(before)...) {
		j.add("ordered", "%s takes %s %d times, and took it %d times", short(k.function), k.what, after[k], before[k])
	}
	g, a, b := j.now.lockGraph(), j.now.claim.Lock, j.now.claim.Second
	if g.way(a, b) != nil && g.way(b, a) != nil {
		j.add("ordered", "%s and %s are still taken in both orders", short(a), short(b))
	}
}

// acquisitions counts the locks that touched functions take, by class.
func (j *judge) acquisitions(s *side) tally {
	taken := tally{}
	j.eachTouched(s, func(p *session.Package, fn *ssa.Function, instr ssa.Instruction, _ *lockset.State) {
		if call, ok := instr.(ssa.CallInstruction); ok {
			if class := facts.Acquired(p, call); class != "" {
				taken[tallyKey{declared(p, fn), short(class)}]++
			}
		}
	})
	return taken
}

// unblocked demands that fewer operations on the claim's channel wait for ever
// once its function has returned, and none does that did not before.
func (j *judge) unblocked() {
	before, after := j.blocking(j.old), j.blocking(j.now)
	if total(after) >= total(before) {
		j.add("unblocked", "as many operations on %s may wait for ever as before", j.now.claim.Variable)
	}
	for _, k := range after.more(before) {
		j.add("unblocked", "%s %s", short(k.function), k.what)
	}
	for _, k := range after.left(before) {
		j.add("unblocked", "%s still %s, in another place", short(k.function), k.what)
	}
	j.afterStop()
}

// blocking counts the operations on the claim's channel of which nothing that
// its function does in the end frees the goroutine.
func (j *judge) blocking(s *side) tally {
	found := tally{}
	for _, p := range s.packages() {
		for _, op := range p.Ops.All {
			if op.Path.Root == nil || !s.isChannel(p, op) {
				continue
			}
			switch {
			case op.Mode == finding.Send && op.Alone && !hasRoom(p, op):
				found[tallyKey{declared(p, op.Fn), "sends where nobody may receive"}]++
			case op.Mode == finding.Receive && op.Alone && !closedAtReturn(p, op):
				found[tallyKey{declared(p, op.Fn), "receives where nobody may send or close"}]++
			}
		}
	}
	return found
}

// isChannel reports whether op is on the channel of the claim: its path starts
// at the local variable, or at the make that the variable is set to.
func (s *side) isChannel(p *session.Package, op *syncops.Op) bool {
	want := s.local(p)
	switch root := op.Path.Root.(type) {
	case *ssa.Alloc:
		return root.Pos() == want
	case *ssa.MakeChan:
		return definedBy(p, root.Pos()) == want
	}
	return false
}

// closedAtReturn reports whether a deferred call closes the channel of op, or one that comes before every return of the
// function that closes it.
func closedAtReturn(p *session.Package, op *syncops.Op) bool {
	for _, other := range p.Ops.ByKey[op.Key] {
		if other.Mode != finding.CloseChan {
			continue
		}
		if _, deferred := other.Instr.(*ssa.Defer); deferred || other.Fn != op.Fn && isBeforeReturns(other.Instr) {
			return true
		}
	}
	return false
}

// isBeforeReturns reports whether every return of a function comes behind the instruction.
func isBeforeReturns(instr ssa.Instruction) bool {
	for _, b := range instr.Parent().Blocks {
		_, returns := b.Instrs[len(b.Instrs)-1].(*ssa.Return)
		if returns && !instr.Block().Dominates(b) {
			return false
		}
	}
	return true
}
