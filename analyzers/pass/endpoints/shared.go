package endpoints

import (
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/pass/accesses"
	"github.com/interlock-go/interlock/analyzers/pass/callgraph"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
	"github.com/interlock-go/interlock/analyzers/pass/ownership"
)

// shared reports whether another goroutine may come in between, and returns an
// access by which it would, if one of this package is known.
func (c *checker) shared(f *function, p pair) (remote *accesses.Access, ok bool) {
	roles := c.list.Graph.Roles(f.fn)
	prog := c.list.Prog
	switch {
	case roles.Unknown && !roles.Concurrent(), c.alreadyReported(f, p):
		return nil, false
	case prog.Alone(f.fn), prog.SaysNoLock(f.fn, p.use.at.Pos()):
		return nil, false
	}
	if p.rule.what == sent {
		return nil, roles.Concurrent()
	}
	remote = c.remote(f.fn, p)
	switch {
	case p.gap == unlocked:
		return remote, c.isLazyInit(p)
	case p.out.Inside:
		return remote, remote != nil
	case p.use.own != nil && !c.list.Parallel(p.use.own, p.use.own): // each has an object of its own
		return remote, remote != nil
	// A value that is filled in twice is the same, as a rule; the greater of two is not.
	case p.gap == atomics && p.use.op == set && !p.out.Ordered:
		return remote, remote != nil && remote.Fn != f.fn
	case p.use.op.writes() && roles.Concurrent(): // two goroutines may run this very code
		return remote, true
	}
	return remote, remote != nil
}

// isLead reports whether p may be split by goroutines that only the users of the package start, its tests among
// them: the code itself releases a lock between the two, or accesses it atomically twice.
func (c *checker) isLead(f *function, p pair) bool {
	return p.gap&locked != 0 && p.rule.what != sent && !p.out.Inside && !c.alreadyReported(f, p) &&
		!c.list.Prog.Alone(f.fn) && !c.list.Prog.SaysNoLock(f.fn, p.use.at.Pos())
}

// alreadyReported reports whether one of the two lacks the lock that guards the
// variable elsewhere, which is the better explanation, or this is the second
// pair on the variable in the function.
func (c *checker) alreadyReported(f *function, p pair) bool {
	for _, e := range []*event{p.test, p.use} {
		if c.reported[e.side.Position] {
			return true
		}
	}
	return c.done[c.pairKey(f, p)]
}

func (c *checker) pairKey(f *function, p pair) string {
	return p.use.name.String() + "\x00" + c.list.Prog.FuncName(f.fn)
}

// remote returns a write of the tested variable by which another goroutine than the one that runs fn may change
// it, preferably in another function.
func (c *checker) remote(fn *ssa.Function, p pair) *accesses.Access {
	mine := c.list.Graph.Roles(fn)
	var found *accesses.Access
	for _, w := range c.writers[p.test.name] {
		if w.Map != p.test.inMap && !p.out.Length || !disturbs(operationOf(w), p) || p.test.own != nil &&
			!c.list.Parallel(p.test.own, w) {
			continue
		}
		meets := slices.ContainsFunc(c.actors(w), func(theirs *callgraph.Roles) bool { return rolesMeet(mine, theirs) })
		if meets && (w.Fn != fn || mine.Concurrent()) && (found == nil || found.Fn == fn && w.Fn != fn) {
			found = w
		}
	}
	return found
}

// rolesMeet reports whether code with these roles may be run by two goroutines.
func rolesMeet(mine, theirs *callgraph.Roles) bool {
	if single := mine.Single(); single != nil && single == theirs.Single() {
		return false
	}
	return mine.Concurrent() || theirs.Concurrent() || len(theirs.Goroutines)+len(mine.Goroutines) > 0
}

// goroutinesMeet reports whether something shows that a second goroutine may come in between: to the same code,
// or to remote.
func (c *checker) goroutinesMeet(f *function, p pair, remote *accesses.Access) bool {
	own := accesses.Place{Fn: f.fn, Instr: p.use.at, Root: p.use.path.Root}
	return c.list.Meet(own, own, true) || remote != nil && c.list.Meet(own, remote.Place(), true)
}

// certain reports whether p is of a likely shape, and something shows that a second goroutine may come in between,
// although a lock of another object is held over both.
func (c *checker) certain(f *function, p pair, remote *accesses.Access) bool {
	if joinedAside(p.test, p.use) && (remote == nil || remote.Fn == f.fn || !c.list.AnyCaller(remote)) {
		return false
	}
	return c.likely(f, p) && c.goroutinesMeet(f, p, remote)
}

// actors returns the roles of the goroutines behind w: of a function that changes its argument, and has known
// calls alone, those of its callers, except the makers of the object.
func (c *checker) actors(w *accesses.Access) []*callgraph.Roles {
	graph := c.list.Graph
	whole := []*callgraph.Roles{graph.Roles(w.Fn)}
	param := w.Path.Param(w.Fn)
	if param < 0 || !graph.Closed(w.Fn) {
		return whole
	}
	var list []*callgraph.Roles
	for _, s := range graph.Sites(w.Fn) {
		if s.Mode == callgraph.Go || param >= len(s.Args) {
			return whole
		}
		if arg := s.Args[param]; c.owner.Of(arg, s.Instr) == ownership.Shared && !c.owner.Made(arg, s.Instr) {
			list = append(list, graph.Roles(s.Caller))
		}
	}
	return list
}

// disturbs reports whether a change by o can make the test's answer untrue.
func disturbs(o op, p pair) bool {
	switch {
	case p.out.Inside:
		return o == insert || o == set
	case p.relation == bounds:
		return o != grow && o != insert
	// A change in the other direction leaves no less room, and no less to take.
	case p.out.Compares && p.use.op == shrink:
		return o != grow && o != insert
	case p.out.Compares && (p.use.op == grow || p.use.op == insert || p.use.op == mark && p.out.Length):
		return !o.lessens()
	case p.out.Compares:
		return true
	case p.use.op == read && p.use.atomic:
		return o == reset
	case p.present() < 0:
		return !o.lessens()
	case p.present() > 0 && !p.out.Length:
		return o.lessens() || o == set
	case p.present() > 0:
		return o != grow && o != insert
	}
	return true
}

// isLazyInit reports whether p, without any lock, is a lazy initialisation by a method
// that any goroutine may call, on a type that is meant for several.
func (c *checker) isLazyInit(p pair) bool {
	t, u := p.test.own, p.use.own
	return t != nil && u != nil && c.list.AnyCaller(u) && c.list.MeantToBeShared(u.Fn) &&
		!c.lockedSomewhere(u)
}

// lockedSomewhere reports whether some write of the variable holds a lock: then the lock decides.
func (c *checker) lockedSomewhere(u *accesses.Access) bool {
	for _, w := range c.writers[u.Name] {
		if len(w.Locks.Held()) > 0 {
			return true
		}
	}
	return false
}

// likely reports whether a pair has a shape with mostly true findings, as labelled by readers (`lab labels`):
//
//   - an entry of a map is looked for, and made, replaced or removed;
//   - a test has counted something under a lock, and adds to it when that is released;
//   - an exported function of an exported type, which any goroutine may call, has both ends, or a test that is a
//     program by itself.
//
// Of flags, pointers and counters in other functions most are one goroutine's, and so are maps from which a
// helper removes entries that nobody else puts there. A callee that decides by another entry under its lock may
// decide anew there.
func (c *checker) likely(f *function, p pair) bool {
	if p.use.op == remove && c.onlyAdder(f.fn, p) || p.use.call && p.use.op == grow && len(p.use.asked) > 0 {
		return false
	}
	if p.use.inMap && !p.out.Length || len(p.test.held) > 0 && (p.use.op == grow || p.rule.what == added) {
		return true
	}
	fn := ir.Outermost(f.fn)
	obj, ok := fn.Object().(*types.Func)
	if c.list.Prog.InTestFile(fn) || !ok || !obj.Exported() {
		return c.list.Prog.InTestFile(fn)
	}
	recv := obj.Signature().Recv()
	if recv == nil {
		return true
	}
	t := recv.Type()
	if ptr, isPtr := types.Unalias(t).(*types.Pointer); isPtr {
		t = ptr.Elem()
	}
	named, ok := types.Unalias(t).(*types.Named)
	return ok && named.Obj().Exported()
}

// onlyAdder reports whether fn, an unexported function, is the only one that puts entries into the map, itself or
// by a function that nothing else calls.
func (c *checker) onlyAdder(fn *ssa.Function, p pair) bool {
	if ir.Outermost(fn).Object() == nil || ir.Outermost(fn).Object().Exported() {
		return false
	}
	adds := false
	for _, w := range c.writers[p.use.name] {
		if o := operationOf(w); o == remove || o == reset || o == shrink || !w.Map {
			continue
		}
		adds = true
		if w.Fn != fn && !c.onlyCalledBy(w.Fn, fn) {
			return false
		}
	}
	return adds
}

func (c *checker) onlyCalledBy(callee, caller *ssa.Function) bool {
	sites := c.list.Graph.Sites(callee)
	return c.list.Graph.Closed(callee) && len(sites) > 0 &&
		!slices.ContainsFunc(sites, func(s callgraph.Site) bool { return s.Caller != caller || s.Mode == callgraph.Go })
}
