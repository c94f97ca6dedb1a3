package endpoints

import (
	"cmp"
	"go/ast"
	"go/token"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/pass/accesses"
	"github.com/interlock-go/interlock/analyzers/pass/ownership"
)

// Update is a load of a variable and a store of a value computed from it, one of them or both in functions that
// are called, with a gap in between.
type Update struct {
	Load, Store         finding.Access // as the function has them: the access, or the call
	LoadNode, StoreNode ast.Expr
	At                  token.Pos // of the store
	Variable            finding.Variable
	Name                string // Type.field
	Via                 string // where the calls lead to, for people; begins with a blank
	Gap                 string // why another goroutine may come in between
	Section             *finding.Section
	Remote              *accesses.Access // that may come in between, if one is known
	Lead                bool             // see [TestUse]
}

// Updates lists those of fn that another goroutine may come in between.
func (p *Package) Updates(fn *ssa.Function) []Update {
	c := p.c
	f := c.functions[fn]
	if f == nil || !c.counts(fn) {
		return nil
	}
	var list []Update
	for _, u := range f.events {
		if u.op == read || u.op == swap || u.value == nil || u.owner != ownership.Shared || u.rechecked {
			continue
		}
		for _, t := range f.copiedTo(u) {
			if !f.updates(t, u) || c.versioned(f, t, u) {
				continue
			}
			if up, ok := c.update(f, t, u); ok {
				list = append(list, up)
				break
			}
		}
	}
	return list
}

// copiedTo lists the events that have read a part of the value that u stores, not
// an answer to a question about it, in the order of the function's events.
func (f *function) copiedTo(u *event) []*event {
	var list []*event
	for t, o := range f.testsBehind(u.value) {
		if t.name == u.name && o.Sense == 0 && !o.Compares && !o.Length && !o.Inside {
			list = append(list, t)
		}
	}
	slices.SortFunc(list, func(a, b *event) int { return cmp.Compare(f.order[a], f.order[b]) })
	return list
}

// updates reports whether u stores a value computed from the one that t has read, after another goroutine could
// come in between:
//
//	n := t.Get(); …; t.Set(n + 1)
func (f *function) updates(t, u *event) bool {
	// The check itself sees updates in one function, except those of entries of a sync.Map.
	if !t.call && !u.call && !(t.inMap && t.atomic) {
		return false
	}
	if t.op != read || !sameCell(t, u) || t.at == u.at || !f.flow.Leads(t.at, u.at) {
		return false
	}
	if g := gapBetween(t, u); g != atomics && (g != released || !releasesGuard(t, u)) {
		return false
	}
	return f.recheck(u) == nil
}

// sameCell reports whether both access the same variable, or the same entry of
// a map, of an object that others can reach.
func sameCell(t, u *event) bool {
	return t.owner == ownership.Shared && t.path.Root != nil && t.path == u.path && t.inMap == u.inMap &&
		(!t.inMap || sameKey(t.key, u.key))
}

// update returns the report of the update from t to u; ok is false where no other goroutine may come in
// between, and no lock is released there either.
func (c *checker) update(f *function, t, u *event) (Update, bool) {
	roles := c.list.Graph.Roles(f.fn)
	if c.list.Prog.Alone(f.fn) || c.list.Prog.SaysNoLock(f.fn, u.at.Pos()) {
		return Update{}, false
	}
	p := pair{test: t, use: u, gap: gapBetween(t, u)}
	p.out.Compares = true // any change makes the load stale
	remote := c.remote(f.fn, p)
	lead := !roles.Concurrent() && (roles.Unknown || remote == nil) || joinedAside(t, u)
	if lead && p.gap != released {
		return Update{}, false
	}
	lead = lead || !c.goroutinesMeet(f, p, remote)
	load, store := c.makeEnd(f, t), c.makeEnd(f, u)
	if load.node == nil || store.node == nil {
		return Update{}, false
	}
	s := &finding.Section{
		Kind: "load-and-store", Function: c.list.Prog.FuncName(f.fn),
		Entry: t.side.Position, End: u.side.Position, Allows: []finding.Mode{finding.Read},
	}
	if t.call {
		s.EntryCall = &load.Position
	}
	if u.call {
		s.EndCall = &store.Position
	}
	return Update{
		Load: load.Access, Store: store.Access, LoadNode: load.node, StoreNode: store.node, At: u.at.Pos(),
		Variable: variable(u), Name: u.name.Short(), Via: c.describeCallee(u), Gap: p.between(), Section: s,
		Remote: remote, Lead: lead,
	}, true
}

// Versioned reports whether st, in a critical section of its own, is made only
// where a version is still the one that was read together with ld, and every
// writer of the variable changes the version.
func (p *Package) Versioned(ld, st *accesses.Access) bool {
	f := p.c.functions[ld.Fn]
	if f == nil {
		return false
	}
	at := func(a *accesses.Access) int {
		return slices.IndexFunc(f.events, func(e *event) bool { return e.own == a })
	}
	t, u := at(ld), at(st)
	return t >= 0 && u >= 0 && p.c.versioned(f, f.events[t], f.events[u])
}
