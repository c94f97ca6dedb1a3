package invariants

import (
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/internal/knowledge"
	"github.com/interlock-go/interlock/analyzers/pass/lockset"
)

// Leads are pairs of accesses in two critical sections of one lock, or of two atomic operations, where the second has
// to do with the first: it depends on the value that was read, or the two variables change together. Only runs show
// whether another goroutine that comes in between does harm, so that no lead is reported before a test has failed.

// Kinds of lead. They are those of the sections that checks find.
const (
	testAndUse   = "test-and-use"
	loadAndStore = "load-and-store"
	together     = "invariant"
)

// findLeads adds the leads of fn. A large function is left out: each event is looked at with those that follow it.
func (f *finder) findLeads(fn *ssa.Function, b *body) {
	if !f.counts(fn) || len(b.events) > knowledge.EventsOfLeads || len(fn.Blocks) > knowledge.BlocksOfLeads {
		return
	}
	found := 0
	for _, e := range b.events {
		if found >= knowledge.LeadsOfFunction {
			return
		}
		if !e.last || !e.candidate() || !e.isGuarded() {
			continue
		}
		flow := &dataFlow{body: b, from: e}
		ends := map[string][]*event{}
		for _, u := range f.nextApart(b, e) {
			declared := slices.ContainsFunc(f.spans, func(s *span) bool { return s.hasBoth(fn, e, u) })
			if kind := f.kindOf(flow, e, u); kind != "" && !declared {
				ends[kind] = append(ends[kind], u)
			}
		}
		for _, kind := range []string{loadAndStore, testAndUse, together} {
			if len(ends[kind]) > 0 {
				f.addLead(fn, e, ends[kind], kind)
				found++
			}
		}
	}
}

// nextApart lists the accesses to the variable of e, or to another one of its object, that control may come to next in
// another critical section.
func (f *finder) nextApart(b *body, e *event) []*event {
	var all []*event
	for _, wanted := range []func(*event) bool{e.sameVariable, e.together} {
		isEnd := func(u *event) bool { return wanted(u) && areSeparateSteps(e, u) }
		for _, u := range b.following(e, knowledge.EndsOfSection, isEnd) {
			if u != e && u.candidate() && !slices.Contains(all, u) {
				all = append(all, u)
			}
		}
	}
	return all
}

// sameVariable reports whether both are about one variable, or about any entries of one map.
func (e *event) sameVariable(u *event) bool {
	return e.path == u.path && e.path.Root != nil && e.a.Name == u.a.Name && e.a.Map == u.a.Map
}

// isGuarded reports whether e is atomic, or made under a lock of its object.
func (e *event) isGuarded() bool { return e.a.Atomic() || len(e.guards()) > 0 }

// guards lists the locks of the variable's object that are held at the access: in a callee, those that it has taken.
func (e *event) guards() []lockset.Held {
	held := e.a.Locks.Held()
	return slices.DeleteFunc(slices.Clone(held), func(h lockset.Held) bool { return !e.a.Near(h) })
}

// areSeparateSteps reports whether the two are atomic operations, or are made in two critical sections of a
// lock of one class.
func areSeparateSteps(e, u *event) bool {
	if e.at == u.at || inOneSection(e, u) || e.locks.Unknown || u.locks.Unknown {
		return false
	}
	if e.a.Atomic() && u.a.Atomic() {
		return true
	}
	return slices.ContainsFunc(e.guards(), func(h lockset.Held) bool {
		return slices.ContainsFunc(u.guards(), func(g lockset.Held) bool {
			return h.Class == g.Class && h.Since != nil && g.Since != nil
		})
	})
}

// kindOf returns the kind of lead that the two are, or "".
func (f *finder) kindOf(flow *dataFlow, e, u *event) string {
	same := e.sameVariable(u)
	switch {
	case !same && !f.belongTogether(e, u):
		return ""
	case !e.a.Writes() && same && flow.isStored(u):
		return loadAndStore
	case !e.a.Writes() && (flow.decides(u) || flow.chooses(u)):
		return testAndUse
	case !e.a.Writes() && same && u.clears() && flow.isUsed():
		return testAndUse
	case !same && e.a.Writes() == u.a.Writes():
		return together
	}
	return ""
}

// clears reports whether e stores nothing in its variable.
func (e *event) clears() bool {
	c, ok := e.a.Value.(*ssa.Const)
	return e.a.Writes() && !e.a.Update && (ok && (c.Value == nil || c.IsNil()) || e.a.Map && e.a.Index == nil)
}

// belongTogether reports whether a function writes both variables in one critical section, or as two atomic operations;
// of two that are written, whether one looks at both so.
func (f *finder) belongTogether(e, u *event) bool {
	looks := e.a.Writes() && u.a.Writes()
	counts := func(a *accessOf) bool { return a.Writes() || looks }
	return slices.ContainsFunc(f.byName[e.a.Name], func(x *accessOf) bool {
		return counts(x) && slices.ContainsFunc(f.byName[u.a.Name], func(y *accessOf) bool {
			together := x.Atomic() && y.Atomic() && x.Writes() && y.Writes() || oneSection(x, y)
			return y.Fn == x.Fn && counts(y) && together
		})
	})
}

// oneSection reports whether one critical section holds both accesses.
func oneSection(x, y *accessOf) bool {
	return slices.ContainsFunc(x.Locks.Held(), func(h lockset.Held) bool {
		g, ok := y.Locks.Has(h.Path)
		return ok && g.Since == h.Since
	})
}

// addLead adds the lead that begins at e.
func (f *finder) addLead(fn *ssa.Function, e *event, ends []*event, kind string) {
	f.addSection(fn, e, ends, false)
	s := &f.result.Sections[len(f.result.Sections)-1]
	s.Lead = kind
}
