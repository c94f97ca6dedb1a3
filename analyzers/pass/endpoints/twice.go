package endpoints

import (
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
	"github.com/interlock-go/interlock/analyzers/pass/ownership"
)

// A value that is stored twice may be the same, and the number beside it is wrong all the same:
//
//	c.m[k] = v; c.bytes += len(v)

// counters lists the changes of numbers on the side of the branch that leads to the use: those of the object that
// holds the variable.
func (f *function) counters(p pair) []*event {
	f.spendSteps(len(f.events))
	var list []*event
	for _, w := range f.events {
		number := (w.op == grow || w.op == shrink) && w.amount != nil && !w.inMap
		beside := w.name != p.use.name && w.name.Package == p.use.name.Package && w.name.Type == p.use.name.Type
		if number && beside && w.owner == ownership.Shared && p.only[w.at.Block()] {
			list = append(list, w)
		}
	}
	return list
}

// counted reports whether w adds to a number the entry that u puts into a map: something of the value, or one
// for the entry, which is taken off where entries are removed.
func (c *checker) counted(u, w *event) bool {
	if w.op != grow {
		return false
	}
	if w.amount != nil && u.value != nil && dependsOn(w.amount, u.value) {
		return true
	}
	for _, g := range c.functions {
		if changes(g, u.name, remove) && changes(g, w.name, shrink) {
			return true
		}
	}
	return false
}

// changes reports whether f makes such a change of the variable.
func changes(f *function, name accesspath.Name, how op) bool {
	return slices.ContainsFunc(f.byName[name], func(e *event) bool { return e.op == how })
}

// exchanged lists stores of a variable behind a read that makes the function's result, with a gap in between:
// two callers may both get the value that one of them alone has replaced.
//
//	was := t.stopped; …; t.stopped = true; …; return !was
func (c *checker) exchanged(f *function) []pair {
	var list []pair
	for _, u := range f.events {
		if (u.op != mark && u.op != reset && u.op != set) || u.owner != ownership.Shared || u.rechecked {
			continue
		}
		f.spendSteps(len(f.byName[u.name]))
		for _, t := range f.byName[u.name] {
			if p, ok := c.exchange(f, t, u); ok {
				list = append(list, p)
			}
		}
	}
	return list
}

// exchange returns the pair of t, which reads the value that u replaces, if they are meant to be one step.
func (c *checker) exchange(f *function, t, u *event) (pair, bool) {
	behind := t.at != u.at && t.at.Block().Dominates(u.at.Block()) && f.flow.Leads(t.at, u.at)
	if t.op != read || !behind || !sameCell(t, u) {
		return pair{}, false
	}
	p := pair{test: t, use: u, relation: exchanges, gap: gapBetween(t, u)}
	if p.gap&locked == 0 || p.gap == released && !releasesGuard(t, u) {
		return pair{}, false
	}
	if f.recheck(u) != nil || f.corrected(u) || !f.returnsBehind(t, u) || f.keepsOthersOut(t, u) {
		return pair{}, false
	}
	if p.gap == released && (c.versioned(f, t, u) || c.confirmed(f, p)) {
		return pair{}, false
	}
	p.rule, p.lead = c.findRule(f, p)
	return p, p.rule != nil
}

// returnsBehind reports whether the function returns behind u, which runs in any case, the value that t has
// found, or whether there was one.
func (f *function) returnsBehind(t, u *event) bool {
	for _, b := range f.branches {
		if _, asked := b.hits[t]; asked && leadingSide(b.at.Block(), u.at.Block()) >= 0 {
			return false
		}
	}
	f.spendSteps(len(f.fn.Blocks))
	return slices.ContainsFunc(f.fn.Blocks, func(b *ssa.BasicBlock) bool {
		ret, ok := lastInstr(b).(*ssa.Return)
		if !ok || !f.flow.Leads(u.at, ret) {
			return false
		}
		for i := range ret.Results {
			if o, ok := f.testsBehind(result(ret, i))[t]; ok && !o.Inside && !o.Length && !o.Computed {
				return true
			}
		}
		return false
	})
}

// answersAlike reports whether the use, under its lock, repeats the test, and decides by that about a
// change of it, but the function returns the same whatever the answer is, and another result where the test turns
// back:
//
//	if q.Left() == 0 { return false }; q.mu.Lock(); if q.left > 0 { q.left-- }; q.mu.Unlock(); return true
func answersAlike(_ *checker, f *function, p pair) bool {
	if p.use.call || !f.decidesBranch(p.use) || !f.guardsChange(p.use) {
		return false
	}
	block := p.branch.at.Block()
	for i := range f.fn.Signature.Results().Len() {
		here, there := returned(block.Succs[p.way], i, block), returned(block.Succs[1-p.way], i, block)
		if here == truthy && there == falsy || here == falsy && there == truthy {
			return true
		}
	}
	return false
}

// guardsChange reports whether a branch that asks for the value of r decides about a change of the variable in
// the same critical section.
func (f *function) guardsChange(r *event) bool {
	f.spendSteps(len(f.branches))
	return slices.ContainsFunc(f.branches, func(b *branch) bool {
		_, asks := b.hits[r]
		return asks && slices.ContainsFunc(f.byName[r.name], func(w *event) bool {
			return w.op.writes() && w.path == r.path && w.inMap == r.inMap && sameRegion(r, w) &&
				leadingSide(b.at.Block(), w.at.Block()) >= 0
		})
	})
}
