package validate

import (
	"go/constant"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
	"github.com/interlock-go/interlock/analyzers/pass/lockset"
	"github.com/interlock-go/interlock/analyzers/pass/order"
	"github.com/interlock-go/interlock/analyzers/pass/ownership"
	"github.com/interlock-go/interlock/patchgen/internal/facts"
	"github.com/interlock-go/interlock/patchgen/internal/session"
)

// channelUse is a send on a channel, or a close of it.
type channelUse struct {
	use
	ch     ssa.Value
	closes bool
}

// name names the kind of the use.
func (c channelUse) name() string {
	if c.closes {
		return "close"
	}
	return "send"
}

// sentOpen demands that no send meets a close of the claim's channel: under the lock of its object, each send asks for
// the flag before, and each close sets it, in the same critical section. The flag is never cleared, and the channel is
// not made again.
func (j *judge) sentOpen() {
	s, v := j.now, j.now.claim.Variable
	before, after := tally{}, tally{}
	for _, c := range j.old.sendsAndCloses() {
		if nameOfAddr(c.ch) == s.claimName() {
			before[tallyKey{declared(c.pkg, c.fn), c.name()}]++
		}
	}
	for _, c := range s.sendsAndCloses() {
		switch {
		case nameOfAddr(c.ch) == s.claimName():
			after[tallyKey{declared(c.pkg, c.fn), c.name()}]++
			j.useUnderFlag(c)
		// func put(ch chan int) { ch <- 1 }
		case s.isClaimsType(c.ch.Type()) && !isLocalChannel(c.ch):
			j.doubt(place{c.pkg, c.instr}, finding.Heavy, "sent open", "if so, a send may still meet a close",
				"%s may come under another name to the %s at %s", v, c.name(), at(c.pkg, c.instr))
		}
	}
	for _, k := range append(before.more(after), after.more(before)...) {
		j.add("sent open", "%s has %d times a %s of it, and had %d", short(k.function), after[k], k.what, before[k])
	}
	for _, p := range s.Packages {
		each(p, func(fn *ssa.Function, instr ssa.Instruction, st *lockset.State) {
			if store, ok := instr.(*ssa.Store); ok && !p.IR.InTest(fn) && p.Owners.Of(store.Addr, store) != ownership.Fresh {
				j.setOfFlag(p, fn, store, st)
			}
		})
	}
}

// sendsAndCloses lists the sends on channels and the closes of the module, tests apart.
func (s *side) sendsAndCloses() (list []channelUse) {
	for _, p := range s.Packages {
		each(p, func(fn *ssa.Function, instr ssa.Instruction, st *lockset.State) {
			if p.IR.InTest(fn) {
				return
			}
			add := func(ch ssa.Value, closes bool) {
				u := use{base: baseOf(ir.Address(ch)), pkg: p, fn: fn, instr: instr, locks: st}
				list = append(list, channelUse{u, ch, closes})
			}
			switch instr := instr.(type) {
			case *ssa.Send:
				add(instr.Chan, false)
			case *ssa.Select:
				for _, c := range instr.States {
					if c.Dir == types.SendOnly {
						add(c.Chan, false)
					}
				}
			case ssa.CallInstruction:
				if b, ok := instr.Common().Value.(*ssa.Builtin); ok && b.Name() == "close" {
					add(instr.Common().Args[0], true)
				}
			}
		})
	}
	return list
}

// useUnderFlag judges one send on the claim's channel, or one close of it.
func (j *judge) useUnderFlag(c channelUse) {
	s, v := j.now, j.now.claim.Variable
	if _, isDeferred := c.instr.(*ssa.Defer); isDeferred {
		j.add("sent open", "%s is closed by a defer at %s", v, at(c.pkg, c.instr))
		return
	}
	held, ok := s.heldFor(c.locks, c.base)
	switch {
	case !ok:
		j.add("sent open", "the %s at %s is not under %s", c.name(), at(c.pkg, c.instr), short(s.claim.Lock))
	case c.closes && held.Read:
		j.add("sent open", "%s is closed under a read lock at %s", v, at(c.pkg, c.instr))
	case !s.flagBeside(c, held):
		j.add("sent open", "the %s at %s is not in one critical section with %s", c.name(), at(c.pkg, c.instr), s.claim.Flag)
	}
}

// leftUnsent doubts each send that the patch leaves out after the close, where it had panicked.
func (j *judge) leftUnsent() {
	for _, c := range j.now.sendsAndCloses() {
		if !c.closes && nameOfAddr(c.ch) == j.now.claimName() && j.touched[declared(c.pkg, c.fn)] && !j.now.isOptional(c) {
			j.doubt(place{c.pkg, c.instr}, finding.Heavy, "left unsent",
				"code that counts on the message, or on another case of the select, waits or goes on without a result",
				"after the close, the send at %s is left out", at(c.pkg, c.instr))
		}
	}
}

// isOptional reports whether a send is left out already where nobody is ready to receive, and that has no effect that
// lasts: then no code counts on it.
//
//	select {
//	case ch <- v:
//		return true
//	default:
//		return false
//	}
func (s *side) isOptional(c channelUse) bool {
	sel, ok := c.instr.(*ssa.Select)
	if !ok || sel.Blocking || len(sel.States) > 1 {
		return false
	}
	for r := range c.fn.Signature.Results().Variables() {
		if t := r.Type(); t != types.Typ[types.Bool] && !types.Identical(t, types.Universe.Lookup("error").Type()) {
			return false
		}
	}
	for _, b := range c.fn.Blocks {
		// The other way of the test for the first case is default, unless both go on in one block.
		if len(b.Preds) != 1 || len(b.Preds[0].Succs) != 2 || b.Preds[0].Succs[1] != b ||
			ir.SelectedBetween(b.Preds[0], b.Preds[0].Succs[0]) != sel.States[0] {
			continue
		}
		for _, under := range c.fn.Blocks {
			lasts := func(instr ssa.Instruction) bool { return s.Lasts(instr) != "" }
			if b.Dominates(under) && slices.ContainsFunc(under.Instrs, lasts) {
				return false
			}
		}
	}
	return true
}

// heldFor returns the claim's lock where it is held, that of the object itself.
func (s *side) heldFor(st *lockset.State, base ssa.Value) (lockset.Held, bool) {
	for _, h := range st.Held() {
		if s.isLock(h) && s.sameObject(h, base) {
			return h, true
		}
	}
	return lockset.Held{}, false
}

// flagBeside reports whether a close sets the flag of its object, or a send comes only where that is not set, in one
// critical section.
func (s *side) flagBeside(c channelUse, held lockset.Held) (found bool) {
	c.pkg.Locks.Walk(c.fn, func(instr ssa.Instruction, st *lockset.State) {
		var addr ssa.Value
		switch instr := instr.(type) {
		case *ssa.Store:
			addr = instr.Addr
			if !c.closes || !isTrue(instr.Val) {
				return
			}
		case *ssa.UnOp:
			addr = instr.X
			if c.closes || instr.Op != token.MUL || !isFalseBefore(instr, c.instr.Block()) {
				return
			}
		default:
			return
		}
		if nameOfAddr(addr) != s.flagName() || c.base == nil || accesspath.Of(baseOf(addr)) != accesspath.Of(c.base) {
			return
		}
		here, ok := s.heldFor(st, c.base)
		found = found || ok && here.Since == held.Since
	})
	return found
}

// flagName returns the claim's flag as accesspath names it.
func (s *side) flagName() string {
	v := s.claim.Variable
	return accesspath.Name{Package: v.Package, Type: v.Type, Field: s.claim.Flag}.String()
}

func isTrue(v ssa.Value) bool {
	c, ok := v.(*ssa.Const)
	return ok && c.Value != nil && c.Value.Kind() == constant.Bool && constant.BoolVal(c.Value)
}

// isFalseBefore reports whether control comes to a block only where a flag that was loaded is false.
func isFalseBefore(load *ssa.UnOp, b *ssa.BasicBlock) bool {
	isWay := func(cond ssa.Value, way int) bool {
		for _, ref := range *cond.Referrers() {
			test, ok := ref.(*ssa.If)
			if !ok {
				continue
			}
			next := test.Block().Succs[way]
			if len(next.Preds) == 1 && next.Dominates(b) {
				return true
			}
		}
		return false
	}
	if isWay(load, 1) {
		return true
	}
	for _, ref := range *load.Referrers() {
		if not, ok := ref.(*ssa.UnOp); ok && not.Op == token.NOT && isWay(not, 0) {
			return true
		}
	}
	return false
}

// setOfFlag judges a store to the flag or to the claim's channel.
func (j *judge) setOfFlag(p *session.Package, fn *ssa.Function, store *ssa.Store, st *lockset.State) {
	s, v := j.now, j.now.claim.Variable
	switch nameOfAddr(store.Addr) {
	case s.claimName():
		j.doubt(place{p, store}, finding.Heavy, "sent open", "what is sent on the new channel after a close is lost",
			"%s is made again at %s", v, at(p, store))
	case s.flagName():
		if held, ok := s.heldFor(st, baseOf(store.Addr)); !ok || held.Read {
			j.add("sent open", "%s is set at %s without %s", s.claim.Flag, at(p, store), short(s.claim.Lock))
		}
		if isTrue(store.Val) && !s.closesIn(fn) {
			j.doubt(place{p, store}, finding.Heavy, "sent open", "then messages are dropped while the channel is open",
				"%s is set at %s, where nothing closes %s", s.claim.Flag, at(p, store), v)
		}
		if !isTrue(store.Val) {
			j.doubt(place{p, store}, finding.Heavy, "sent open", "if the channel is closed then, a send panics",
				"%s may be cleared at %s", s.claim.Flag, at(p, store))
		}
	}
}

// closesIn reports whether a function closes the claim's channel.
func (s *side) closesIn(fn *ssa.Function) bool {
	for instr := range ir.Instructions(fn) {
		if ch := order.On(instr, order.Close); ch != nil && nameOfAddr(ch) == s.claimName() {
			return true
		}
	}
	return false
}

// waitsToSend demands what waits does, except that a send on the claim's channel under the claim's lock is a doubt: a
// close waits for it then, where it had panicked.
func (j *judge) waitsToSend() {
	isSend := map[ssa.Instruction]bool{}
	for _, c := range j.now.sendsAndCloses() {
		isSend[c.instr] = !c.closes && nameOfAddr(c.ch) == j.now.claimName()
	}
	j.waitsExcept(func(x step) bool {
		if !isSend[x.step] || facts.Waiting(x.step) == "" {
			return false
		}
		j.doubt(place{x.pkg, x.step}, finding.Heavy, "waits",
			"if nobody receives any more, a goroutine that closes the channel waits for ever", "%s may wait at %s under %s",
			short(declared(x.pkg, x.step.Parent())), at(x.pkg, x.step), short(j.now.claim.Lock))
		return true
	})
}
