package endpoints

import (
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
	"github.com/interlock-go/interlock/analyzers/pass/callgraph"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
	"github.com/interlock-go/interlock/analyzers/pass/lockset"
	"github.com/interlock-go/interlock/analyzers/pass/order"
	"github.com/interlock-go/interlock/analyzers/pass/ownership"
)

// flagged lists the uses of other state that some function changes together
// with the tested flag, in one critical section:
//
//	if closed := t.isClosed(); !closed { …; t.list = append(t.list, v) }
func (c *checker) flagged(f *function, b *branch, t *event) []pair {
	if t.inMap || t.atomic || !asksFlag(b, t) {
		return nil
	}
	var list []pair
	f.spendSteps(len(f.events))
	for _, u := range f.events {
		if u.call || u.name == t.name || !besideFlag(t, u) || gapBetween(t, u) != released {
			continue
		}
		if u.op == read && f.recheck(u) != nil {
			continue
		}
		// A goroutine that asks for the flag again, before or behind the use, sees changes in between.
		if f.askedUnder(t, u) || !releasesGuard(t, u) || f.askedBehind(t, u) {
			continue
		}
		p := pair{test: t, use: u, relation: closes, gap: released, since: c.changedWith(t, u)}
		if p.rule, p.lead = c.findRule(f, p); p.rule == nil || p.since == "" {
			continue
		}
		var ok bool
		if p.decision, ok = f.decides(b, t, u.at); ok && f.isNextSection(p.decision, t, u) {
			list = append(list, p)
		}
	}
	return list
}

// besideFlag reports whether u accesses a field of the object that t has
// tested, which others can reach.
func besideFlag(t, u *event) bool {
	return u.name.Package == t.name.Package && u.name.Type == t.name.Type &&
		u.owner == ownership.Shared && related(t.path, u.path)
}

// asksFlag reports whether b asks for the truth of t, a flag.
func asksFlag(b *branch, t *event) bool {
	return isFlag(t) && !b.hits[t].Compares && !b.hits[t].Inside
}

// isFlag reports whether t reads a boolean.
func isFlag(t *event) bool {
	if t.call {
		sig := t.at.(*ssa.Call).Call.Signature()
		return sig.Results().Len() == 1 && ir.IsBool(sig.Results().At(0).Type())
	}
	return t.own.Value != nil && ir.IsBool(t.own.Value.Type())
}

// askedUnder reports whether the variable of t is asked for under the lock of u.
func (f *function) askedUnder(t, u *event) bool {
	return slices.ContainsFunc(f.byName[t.name], func(r *event) bool {
		return r.op == read && r != t && sameRegion(r, u) && (r.at == u.at || f.decidesBranch(r))
	})
}

// askedBehind reports whether the variable of t is asked for once more on every way from u to a return: a
// goroutine that enters and looks again sees changes in between.
func (f *function) askedBehind(t, u *event) bool {
	f.spendSteps(len(f.byName[t.name]))
	return slices.ContainsFunc(f.byName[t.name], func(r *event) bool {
		if r.op != read || r.at == t.at || r.path != t.path || !f.askedItself(r) || !f.flow.Leads(u.at, r.at) {
			return false
		}
		f.spendSteps(len(f.fn.Blocks))
		for b := range reachableBlocks(u.at.Block(), r.at.Block()) {
			if _, returns := lastInstr(b).(*ssa.Return); returns {
				return false
			}
		}
		return true
	})
}

// changedWith names a function that sets the flag of t and clears the state of u in one critical section, as
// one that closes does: an entry that is added afterwards stays.
func (c *checker) changedWith(t, u *event) string {
	for _, w := range c.writers[t.name] {
		if strings.HasPrefix(w.Fn.Name(), "New") {
			continue
		}
		for _, v := range c.writers[u.name] {
			if v.Fn != w.Fn || v.Map != u.inMap && !clears(operationOf(v)) || !clears(operationOf(v)) {
				continue
			}
			for _, h := range w.Locks.Held() {
				if g, ok := v.Locks.Has(h.Path); ok && g.Since == h.Since {
					return c.list.Prog.FuncName(w.Fn)
				}
			}
		}
	}
	return ""
}

func clears(o op) bool { return o == reset || o == remove }

// closed lists sends on a channel that some function closes in the critical
// section in which it sets the tested flag. A send cannot wait under the lock,
// so the gap begins where the lock of the test is released:
//
//	if closed := t.isClosed(); !closed { t.ch <- v }
//
// An atomic flag has no section. The send comes without a lock then, and nothing waits for it before the close.
func (c *checker) closed(f *function, b *branch, t *event) []pair {
	if t.inMap || len(t.held) == 0 && !t.atomic || !asksFlag(b, t) {
		return nil
	}
	var list []pair
	for _, u := range f.events {
		if u.op != read || u.own == nil || !besideFlag(t, u) || f.askedUnder(t, u) || holdsAny(t, u) {
			continue
		}
		p := pair{test: t, use: u, relation: closes, gap: released}
		if len(t.held) == 0 {
			p.gap = unlocked
		}
		if p.rule, p.lead = c.findRule(f, p); p.rule == nil {
			continue
		}
		p.since = c.closesWith(t, u)
		var ok bool
		if p.decision, ok = f.decides(b, t, u.at); ok && p.since != "" {
			list = append(list, p)
		}
	}
	return list
}

// holdsAny reports whether a lock under which t was made, the same or one taken
// anew, is held at u.
func holdsAny(t, u *event) bool {
	return u.unknown || slices.ContainsFunc(t.held, func(h lockset.Held) bool {
		return slices.ContainsFunc(u.held, func(g lockset.Held) bool { return sameLock(h, g) })
	})
}

// sentOn reports whether v is a channel that something is sent on.
func sentOn(v ssa.Value) bool {
	if v == nil || v.Referrers() == nil {
		return false
	}
	return slices.ContainsFunc(*v.Referrers(), func(ref ssa.Instruction) bool {
		switch ref := ref.(type) {
		case *ssa.Send:
			return ref.Chan == v
		case *ssa.Select:
			return slices.ContainsFunc(ref.States,
				func(s *ssa.SelectState) bool { return s.Chan == v && s.Dir == types.SendOnly })
		}
		return false
	})
}

// closesWith names a function that sets the flag of t under a lock of t, or atomically, and closes the channel of u,
// without waiting for senders.
func (c *checker) closesWith(t, u *event) string {
	for _, w := range c.writers[t.name] {
		if storeOp(w.Value, w.Path) != mark && operationOf(w) != swap || !slices.Contains(c.closers[u.name], w.Fn) {
			continue
		}
		if w.Atomic() && len(t.held)+len(u.held) == 0 && w.Fn != t.at.Parent() && !recovers(u.at.Parent()) &&
			!c.lingers(w.Fn) {
			return c.list.Prog.FuncName(w.Fn)
		}
		if slices.ContainsFunc(w.Locks.Held(), func(h lockset.Held) bool {
			return slices.ContainsFunc(t.held, func(g lockset.Held) bool { return h.Class != "" && h.Class == g.Class })
		}) {
			return c.list.Prog.FuncName(w.Fn)
		}
	}
	return ""
}

// recovers reports whether fn defers a function that recovers from a panic.
func recovers(fn *ssa.Function) bool {
	for instr := range ir.Instructions(fn) {
		d, ok := instr.(*ssa.Defer)
		if !ok {
			continue
		}
		callee, _ := callgraph.Target(d.Common())
		if callee == nil {
			continue
		}
		for inner := range ir.Instructions(callee) {
			if call, ok := inner.(*ssa.Call); ok {
				if b, ok := call.Call.Value.(*ssa.Builtin); ok && b.Name() == "recover" {
					return true
				}
			}
		}
	}
	return false
}

// lingers reports whether fn may wait, be it for senders: it receives, sleeps, or loads an atomic again and again.
func (c *checker) lingers(fn *ssa.Function) bool {
	flow := c.list.Prog.Flow(fn)
	for instr := range ir.Instructions(fn) {
		if order.May(instr, order.Receive|order.Groups|order.Await) {
			return true
		}
		if order.May(instr, order.Load) && flow.Follows(instr.Block(), instr.Block()) {
			return true
		}
		if call, ok := instr.(*ssa.Call); ok {
			if callee, _ := callgraph.Target(call.Common()); callee != nil && callee.String() == "time.Sleep" {
				return true
			}
		}
	}
	return false
}

// findClosers finds the functions that close a channel in a field or package
// variable, except those that wait for a WaitGroup.
func (c *checker) findClosers() {
	for _, fn := range c.list.Prog.Funcs {
		var names []accesspath.Name
		waits := false
		for instr := range ir.Instructions(fn) {
			waits = waits || order.May(instr, order.Wait)
			if load, ok := order.On(instr, order.Close).(*ssa.UnOp); ok {
				if name, ok := accesspath.NameOf(load.X); ok {
					names = append(names, name)
				}
			}
		}
		for _, name := range names {
			if !waits && !c.list.Prog.InTest(fn) {
				c.closers[name] = append(c.closers[name], fn)
			}
		}
	}
}
