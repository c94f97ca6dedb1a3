package endpoints

import (
	"slices"
	"strings"

	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
	"github.com/interlock-go/interlock/analyzers/pass/lockset"
	"github.com/interlock-go/interlock/analyzers/pass/ownership"
)

// pair is a test and a use that its outcome decides about, with a gap between.
type pair struct {
	test, use *event
	decision
	relation relation
	gap      gap
	rule     *rule // of the table
	lead     bool  // of the table leads
	// since names the function that ties the use's variable to the test's, if they differ.
	since string
}

// gap is the kind of code between the two ends; rules of the table name several.
type gap int

const (
	none     gap = 0
	released gap = 1 << iota // a lock of both is released in between
	atomics                  // no lock holds the two together, one or both are atomic operations
	unlocked                 // no lock at all

	locked = released | atomics
	anyGap = locked | unlocked
)

// findPairs lists the pairs of the function, for each test and variable the first use.
func (c *checker) findPairs(f *function) []pair {
	var list []pair
	for _, b := range f.branches {
		f.spendSteps(len(f.events))
		for _, t := range f.events {
			if _, asked := b.hits[t]; !asked || t.owner != ownership.Shared {
				continue
			}
			f.spendSteps(len(f.byName[t.name]))
			for _, u := range f.byName[t.name] {
				if p, ok := c.makePair(f, b, t, u); ok {
					list = append(list, p)
				}
			}
			list = append(list, c.flagged(f, b, t)...)
			list = append(list, c.closed(f, b, t)...)
		}
	}
	return append(append(list, c.outdated(f)...), c.exchanged(f)...)
}

// outdated lists uses of a length as an index or end, after the variable may have
// become shorter:
//
//	n := t.Len(); …; t.first(n)
func (c *checker) outdated(f *function) []pair {
	var list []pair
	for _, u := range f.events {
		if u.bound == nil || u.op != read || u.rechecked || u.owner != ownership.Shared || f.recheck(u) != nil {
			continue
		}
		hits := f.testsBehind(u.bound)
		f.spendSteps(len(f.byName[u.name]))
		for _, t := range f.byName[u.name] {
			found, ok := hits[t]
			if !ok || !found.Length || found.Inside || !f.rereads(t, u) {
				continue
			}
			p := pair{test: t, use: u, decision: decision{out: found}, relation: bounds, gap: released}
			if p.rule, p.lead = c.findRule(f, p); p.rule != nil {
				list = append(list, p)
			}
		}
	}
	return list
}

// rereads reports whether u, in a later critical section, reads the variable of t again.
func (f *function) rereads(t, u *event) bool {
	return t.at != u.at && t.owner == ownership.Shared && t.path.Root != nil && t.path == u.path &&
		gapBetween(t, u) == released && releasesGuard(t, u) && f.flow.Leads(t.at, u.at)
}

// makePair returns the pair of t, which b asks for, and u, if it is one.
func (c *checker) makePair(f *function, b *branch, t, u *event) (pair, bool) {
	if !c.mayPair(b, t, u) {
		return pair{}, false
	}
	// A goroutine that looks at the variable again under the lock of the use acts on its current value.
	p := pair{test: t, use: u, gap: gapBetween(t, u)}
	if p.gap == none || p.gap != unlocked && (u.rechecked || f.recheck(u) != nil || f.corrected(u)) {
		return pair{}, false
	}
	// The branch has to decide about the use, and nothing nearer than the test.
	var ok bool
	if p.decision, ok = f.decides(b, t, u.at); !ok || !f.nearest(p) {
		return pair{}, false
	}
	if p.rule, p.lead = c.findRule(f, p); p.rule == nil || f.keepsOthersOut(t, u) {
		return pair{}, false
	}
	// Optimistic code looks at something else that changes with the variable.
	if p.gap == released && (c.versioned(f, t, u) || c.confirmed(f, p)) {
		return pair{}, false
	}
	return p, true
}

// mayPair reports whether u may be a use of the variable that t, which b asks
// for, has tested.
func (c *checker) mayPair(b *branch, t, u *event) bool {
	switch {
	case u == t || u.at == t.at || u.owner != ownership.Shared || u.op == swap:
		return false
	case u.inMap != t.inMap && !b.hits[t].Length: // the length of a map bears on its entries
		return false
	case b.hits[t].Inside && u.op != remove:
		return false
	}
	return sameObject(t, u)
}

// nearest reports whether no other look at the variable lies between the two:
// another critical section, or an atomic operation that has answered.
func (f *function) nearest(p pair) bool {
	switch p.gap {
	case released:
		return f.isNextSection(p.decision, p.test, p.use) && releasesGuard(p.test, p.use)
	case atomics:
		return !f.claimed(p.decision, p.test, p.use)
	}
	return true
}

// sameObject reports whether the two are about one variable. That of a use in
// a callee which reaches it by itself may be the same; only counters are
// taken to be.
func sameObject(t, u *event) bool {
	if _, ok := t.path.Global(); ok {
		return t.path == u.path
	}
	if t.path.Root != nil && t.path == u.path {
		return true
	}
	return u.call && u.depth > 0 && (u.op == grow || u.op == shrink) && t.atomic && u.atomic && !related(t.path, u.path)
}

// related reports whether both are reached from one value, by different ways.
func related(a, b accesspath.Path) bool { return a.Root != nil && a.Root == b.Root }

// gapBetween returns the gap between test and use.
func gapBetween(t, u *event) gap {
	if sameRegion(t, u) {
		return none
	}
	for _, h := range t.held {
		for _, g := range u.held {
			if sameLock(h, g) && surelyReleased(h, g) && !t.isAside(h) && !(g.Read && u.op.writes()) {
				return released
			}
		}
	}
	switch {
	case t.unknown || u.unknown:
		return none
	case t.atomic && u.atomic:
		return atomics
	case len(t.held) == 0 && len(u.held) == 0 && !t.atomic && !u.atomic:
		return unlocked
	}
	return none
}

// surelyReleased reports whether a lock that is held at two places was surely
// released in between: not where it is unknown which of several operations took it.
func surelyReleased(before, after lockset.Held) bool {
	return after.Since != nil && (before.Since != nil || after.Back)
}

// isNextSection reports whether u lies in the first critical section of the lock after that of t: a value that
// was found further back no longer matters, most likely.
func (f *function) isNextSection(d decision, t, u *event) bool {
	between := func(e *event) bool {
		return d.only[e.at.Block()] && e.at != u.at && gapBetween(t, e) == released && gapBetween(e, u) == released &&
			f.flow.Leads(e.at, u.at) && !f.flow.Leads(u.at, e.at)
	}
	// An event between t and one use lies between t and most of the later ones: asked first, it spares a look
	// at all events for each use.
	f.spendSteps(1)
	if f.search.between != nil && between(f.search.between) {
		return false
	}
	f.spendSteps(len(f.events))
	i := slices.IndexFunc(f.events, between)
	if i >= 0 {
		f.search.between = f.events[i]
	}
	return i < 0
}

// releasesGuard reports whether a lock that is released between the two lies in the
// object that holds the variable, or is a package variable.
func releasesGuard(t, u *event) bool {
	for _, h := range t.held {
		for _, g := range u.held {
			if sameLock(h, g) && isNearEnd(t, h) && !t.isAside(h) {
				return true
			}
		}
	}
	return false
}

// isNearEnd is [accesses.Access.Near], and for ends that are calls the same by
// the names of types.
func isNearEnd(e *event, h lockset.Held) bool {
	if e.own != nil {
		return e.own.Near(h)
	}
	if _, global := h.Path.Global(); global {
		return true
	}
	owner := e.name.Package + "." + e.name.Type + "."
	if e.name.Type == "" {
		owner = e.name.Package + "."
	}
	if strings.HasPrefix(h.Class, owner) {
		return true
	}
	return inObject(e, h)
}
