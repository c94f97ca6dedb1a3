package loadstore

import (
	"fmt"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/check"
	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/internal/knowledge"
	"github.com/interlock-go/interlock/analyzers/pass/accesses"
	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
	"github.com/interlock-go/interlock/analyzers/pass/callgraph"
	"github.com/interlock-go/interlock/analyzers/pass/guards"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
	"github.com/interlock-go/interlock/analyzers/pass/lockset"
	"github.com/interlock-go/interlock/analyzers/pass/ownership"
)

// checker holds the accesses of a package by variable.
type checker struct {
	list     *accesses.List
	reporter *check.Reporter
	byName   map[accesspath.Name][]*accesses.Access
	starts   bool // the package starts goroutines
	reported map[finding.Position]bool
	done     map[string]bool // variable and function, reported once
}

func newChecker(pass *analysis.Pass, list *accesses.List, r *check.Reporter) *checker {
	c := &checker{
		list: list, reporter: r,
		byName:   map[accesspath.Name][]*accesses.Access{},
		reported: map[finding.Position]bool{},
		done:     map[string]bool{},
	}
	for _, a := range list.All {
		if list.Counts(a) && a.Owner == ownership.Shared {
			c.byName[a.Name] = append(c.byName[a.Name], a)
		}
	}
	for _, fn := range list.Prog.Funcs {
		for _, g := range list.Graph.Roles(fn).Goroutines {
			c.starts = c.starts || !list.Prog.InTest(g.Start.Parent())
		}
	}
	return c
}

// skipReported leaves out accesses that are reported for the lock that they
// lack: it is the better explanation of the same bug.
func (c *checker) skipReported(leads []guards.Suspect) {
	for _, l := range leads {
		c.reported[c.list.Side(l.Without).Position] = true
	}
}

// shared returns why the variable of s is taken to be shared, and another
// access to show, if there is one; why is empty if nothing says so.
func (c *checker) shared(s section) (why string, other *accesses.Access) {
	if c.reported[c.list.Side(s.store).Position] || c.done[c.keyOfSection(s)] {
		return "", nil
	}
	if why, other = c.evidence(s); why != "" {
		c.done[c.keyOfSection(s)] = true
	}
	return why, other
}

// goroutinesMeet reports whether something shows that a second goroutine may come in between: to the other
// access, or to the update itself, if its synchronisation shows that several do.
func (c *checker) goroutinesMeet(s section, other *accesses.Access) bool {
	own := s.store.Place()
	if s.split {
		own.Locks = nil
	}
	synchronised := s.split || s.store.Mode == finding.AtomicWrite
	return other != nil && c.list.Meet(own, other.Place(), synchronised) || c.list.Meet(own, own, synchronised)
}

func (c *checker) keyOfSection(s section) string {
	return s.store.Name.String() + "\x00" + c.list.Prog.FuncName(s.store.Fn)
}

// isLead reports whether s may be split by goroutines that only the users of the package start, its tests among
// them: the code itself releases a lock between the two.
func (c *checker) isLead(s section) bool {
	return s.split && !c.list.Prog.Alone(s.store.Fn) && !c.reported[c.list.Side(s.store).Position]
}

// isFirst reports whether s is the first of its function and variable to be reported.
func (c *checker) isFirst(s section) bool {
	first := !c.done[c.keyOfSection(s)]
	c.done[c.keyOfSection(s)] = true
	return first
}

// writtenElsewhere reports whether another function writes the variable of s atomically as well, and none compares and
// swaps it: an update that is the only write is mostly that of a queue with one producer, and a bit that somebody swaps
// in may be the lock of the rest.
func (c *checker) writtenElsewhere(s section) bool {
	elsewhere := false
	for _, a := range c.byName[s.store.Name] {
		call, ok := a.Instr.(*ssa.Call)
		if !ok || a.Mode != finding.AtomicWrite || a.Fn == s.store.Fn {
			continue
		}
		if strings.HasPrefix(call.Call.StaticCallee().Name(), "CompareAndSwap") {
			return false
		}
		elsewhere = true
	}
	return elsewhere
}

// countedElsewhere reports whether another function adds to the variable of s: a number added between the load
// and the store of zero is lost.
func (c *checker) countedElsewhere(s section) bool {
	return c.findConflict(s.store, func(a *accesses.Access) bool {
		call, ok := a.Instr.(*ssa.Call)
		return ok && a.Atomic() && strings.HasPrefix(call.Call.StaticCallee().Name(), "Add")
	}) != nil
}

func (c *checker) evidence(s section) (string, *accesses.Access) {
	st := s.store
	roles := c.list.Graph.Roles(st.Fn)
	if roles.Unknown && !roles.Concurrent() || c.list.Prog.Alone(st.Fn) {
		return "", nil
	}
	if s.split || st.Mode == finding.AtomicWrite {
		if roles.Concurrent() || c.otherWriter(st) != nil {
			return "its own synchronisation shows that it is shared", c.otherWriter(st)
		}
		return "", nil
	}
	if c.underOutlivingLock(st) {
		return "", nil
	}
	if other := c.lockedElsewhere(st); other != nil {
		return fmt.Sprintf("%s accesses it under %s", c.list.Prog.FuncName(other.Fn), other.Locks.Held()[0]), other
	}
	if other := c.otherGoroutine(st); other != nil {
		return fmt.Sprintf("%s may access it in another goroutine", c.list.Prog.FuncName(other.Fn)), other
	}
	return c.selfConcurrent(st)
}

// underOutlivingLock reports whether some function returns with a lock held that
// lies in an object on the path to st, so that st may run under it.
func (c *checker) underOutlivingLock(st *accesses.Access) bool {
	for addr := st.Addr; addr != nil; addr = ir.Back(addr, ir.Field|ir.Loaded) {
		if fa, ok := addr.(*ssa.FieldAddr); ok && slices.ContainsFunc(locksIn(fa), c.list.Locks.Outlives) {
			return true
		}
	}
	return false
}

// selfConcurrent returns why two goroutines may run the very same update, on
// state that is there for several to use; empty if nothing shows that.
func (c *checker) selfConcurrent(st *accesses.Access) (string, *accesses.Access) {
	roles := c.list.Graph.Roles(st.Fn)
	_, global := st.Addr.(*ssa.Global)
	switch {
	case roles.API && global && c.starts && counts(st):
		return "it is a package variable, and any caller may run this", nil
	case roles.API && !global:
		// A lock beside it does not say that two callers run this: another writer does.
		if lock := c.lockOf(st); lock != "" {
			if other := c.otherWriter(st); other != nil {
				return fmt.Sprintf("its type has the lock %s, and any caller may run this", lock), other
			}
		}
	}
	if g := c.goroutineOf(st); roles.API && g != nil && counts(st) {
		return fmt.Sprintf("the goroutine that %s starts runs this, and so may any caller",
			c.list.Prog.FuncName(g.Start.Parent())), nil
	}
	for _, g := range roles.Goroutines {
		if g.Many && (global || sharedByAll(st, g.Start)) {
			return "it runs in goroutines started in a loop", nil
		}
	}
	return "", nil
}

// goroutineOf returns a goroutine that runs st and was handed the object that has
// the variable by a function which users call in the midst of others.
func (c *checker) goroutineOf(st *accesses.Access) *callgraph.Goroutine {
	for _, g := range c.list.Graph.Roles(st.Fn).Goroutines {
		from := ir.Outermost(g.Start.Parent())
		if c.list.Graph.Open(from) && !accesses.LifeCycle(from) && startedOnHolder(g, st.Addr) {
			return g
		}
	}
	return nil
}

// startedOnHolder reports whether g was started on an object of the type that
// holds the variable at addr, at whatever depth, by value.
func startedOnHolder(g *callgraph.Goroutine, addr ssa.Value) bool {
	holder := ir.Root(addr, ir.Field).Type()
	return slices.ContainsFunc(g.Entry.Params,
		func(p *ssa.Parameter) bool { return types.Identical(p.Type(), holder) })
}

// counts reports whether st is x++ or x += n: a registry that is appended to is filled in before goroutines
// run, a counter counts their work.
func counts(st *accesses.Access) bool {
	op, ok := st.Value.(*ssa.BinOp)
	if !ok {
		return false
	}
	basic, ok := op.Type().Underlying().(*types.Basic)
	return ok && basic.Info()&types.IsNumeric != 0
}

// sharedByAll reports whether the object was there before the loop that starts
// the goroutines: it is captured, and declared outside of the loop.
func sharedByAll(st *accesses.Access, start ssa.CallInstruction) bool {
	root := st.Path.Root
	if strings.Contains(st.Path.Fields, "[") {
		return false // each may have elements of its own
	}
	if root == nil || root.Parent() != start.Parent() || root.Parent() == st.Fn {
		return false
	}
	instr, ok := root.(ssa.Instruction)
	return !ok || instr.Block().Dominates(start.Block()) && instr.Block() != start.Block()
}

// lockOf names the lock in the struct that holds the field, if it is one that
// guards the struct as a whole: at least half of the other fields that are
// written at all are accessed under it somewhere. (A lock for one field only
// says nothing of the others.)
func (c *checker) lockOf(st *accesses.Access) string {
	fa, ok := st.Addr.(*ssa.FieldAddr)
	if !ok {
		return ""
	}
	for _, lock := range locksIn(fa) {
		guarded, mutable := 0, 0
		for name, list := range c.byName {
			if name.Package != st.Name.Package || name.Type != st.Name.Type || name == st.Name || !written(list) {
				continue
			}
			mutable++
			if slices.ContainsFunc(list, func(a *accesses.Access) bool { return holdsClass(a, lock) }) {
				guarded++
			}
		}
		if guarded > 0 && float64(guarded) >= knowledge.GuardsStruct*float64(mutable) {
			return lock[strings.LastIndexByte(lock, '.')+1:]
		}
	}
	return ""
}

func written(list []*accesses.Access) bool {
	return slices.ContainsFunc(list, func(a *accesses.Access) bool { return a.Mode == finding.Write })
}

func holdsClass(a *accesses.Access, class string) bool {
	return slices.ContainsFunc(a.Locks.Held(), func(h lockset.Held) bool { return h.Class == class })
}

// locksIn lists the classes of the locks in the struct that fa selects from.
func locksIn(fa *ssa.FieldAddr) []string {
	st, ok := fa.X.Type().Underlying().(*types.Pointer).Elem().Underlying().(*types.Struct)
	owner, named := accesspath.NameOf(fa)
	if !ok || !named {
		return nil
	}
	var classes []string
	for f := range st.Fields() {
		if lockset.IsLock(f.Type()) {
			classes = append(classes, accesspath.Name{Package: owner.Package, Type: owner.Type, Field: f.Name()}.String())
		}
	}
	return classes
}

// lockedElsewhere returns another function's access that holds a lock of the
// same object, or of the package, if at least half of the others do.
func (c *checker) lockedElsewhere(st *accesses.Access) *accesses.Access {
	locked, free := 0, 0
	for _, a := range c.byName[st.Name] {
		switch {
		case a.Fn == st.Fn || a.Map != st.Map || !accesses.Alike(a, st):
		case holdsOwnLock(a):
			locked++
		case a.Locks.Free():
			free++
		}
	}
	if locked < free {
		return nil
	}
	return c.findConflict(st, func(a *accesses.Access) bool { return holdsOwnLock(a) && (a.Writes() || c.runsTwice(st)) })
}

// runsTwice reports whether two goroutines of the package may run st at once:
// then it needs no other writer to lose an update.
func (c *checker) runsTwice(st *accesses.Access) bool {
	roles := c.list.Graph.Roles(st.Fn)
	if len(roles.Goroutines) > 1 || len(roles.Goroutines) == 1 && (roles.API || roles.Goroutines[0].Many) {
		return true
	}
	// A function of the API that locks its object for something else is there for several callers.
	return roles.API && slices.ContainsFunc(c.list.All, func(a *accesses.Access) bool {
		return a.Fn == st.Fn && a.Owner == ownership.Shared && holdsOwnLock(a)
	})
}

func holdsOwnLock(a *accesses.Access) bool {
	return slices.ContainsFunc(a.Locks.Held(), func(h lockset.Held) bool {
		_, global := h.Path.Global()
		return global || h.Path.Root != nil && h.Path.Root == a.Path.Root
	})
}

// otherGoroutine returns a write by another goroutine than the one that runs st, if one of the two goroutines
// was started on such an object. It takes two writers to lose an update: a mere reader may see it late, which
// is another question than this.
func (c *checker) otherGoroutine(st *accesses.Access) *accesses.Access {
	mine := c.list.Graph.Roles(st.Fn)
	return c.findConflict(st, func(a *accesses.Access) bool {
		theirs := c.list.Graph.Roles(a.Fn)
		if theirs.Unknown || mine.Unknown || !a.Writes() {
			return false
		}
		single, other := mine.Single(), theirs.Single()
		if single == other || !mine.API && single == nil || !theirs.API && other == nil {
			return false
		}
		return (startedOn(single, st) || startedOn(other, a)) && c.list.Parallel(a, st)
	})
}

// startedOn reports whether g was started on an object of the type that a
// starts from: as its receiver, an argument, or a captured variable.
func startedOn(g *callgraph.Goroutine, a *accesses.Access) bool {
	if g == nil {
		return false
	}
	if _, global := a.Path.Global(); global {
		return true
	}
	t := a.Path.Root.Type()
	for _, p := range g.Entry.Params {
		if types.Identical(p.Type(), t) {
			return true
		}
	}
	for _, v := range g.Entry.FreeVars {
		if types.Identical(v.Type(), t) || types.Identical(v.Type(), types.NewPointer(t)) {
			return true
		}
	}
	return false
}

// otherWriter returns a write that may come in between. Two functions that only
// tests call, if any, say nothing about that.
func (c *checker) otherWriter(st *accesses.Access) *accesses.Access {
	unused := c.list.Graph.Roles(st.Fn).None()
	return c.findConflict(st, func(a *accesses.Access) bool {
		return a.Writes() && !(unused && c.list.Graph.Roles(a.Fn).None()) && c.list.Parallel(a, st)
	})
}

// findConflict returns the first access of another function that fits and conflicts.
func (c *checker) findConflict(st *accesses.Access, fits func(*accesses.Access) bool) *accesses.Access {
	for _, a := range c.byName[st.Name] {
		if a.Fn != st.Fn && a.Map == st.Map && accesses.Alike(a, st) && fits(a) &&
			(finding.Conflicts(a.Mode, st.Mode) || a.Mode == finding.AtomicWrite) {
			return a
		}
	}
	return nil
}
