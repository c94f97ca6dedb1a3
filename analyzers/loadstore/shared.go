package loadstore

import (
	"fmt"
	"go/types"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/accesses"
	"github.com/interlock-go/interlock/analyzers/accesspath"
	"github.com/interlock-go/interlock/analyzers/check"
	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/lockset"
	"github.com/interlock-go/interlock/analyzers/ownership"
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

// skipReported leaves out accesses that guardedby has reported: the missing
// lock is the better explanation of the same bug.
func (c *checker) skipReported(r *check.Result) {
	for _, f := range r.Findings {
		c.reported[f.Accesses[0].Position] = true
	}
}

// shared says why the variable of s is taken to be shared, and gives another
// access to show, if there is one; why is empty if nothing says so.
func (c *checker) shared(s section) (why string, other *accesses.Access) {
	st := s.store
	key := st.Name.String() + "\x00" + c.list.Prog.FuncName(st.Fn)
	if c.reported[c.list.Side(st).Position] || c.done[key] {
		return "", nil
	}
	if why, other = c.evidence(s); why != "" {
		c.done[key] = true
	}
	return why, other
}

func (c *checker) evidence(s section) (string, *accesses.Access) {
	st := s.store
	roles := c.list.Graph.Roles(st.Fn)
	if roles.Unknown && !roles.Concurrent() {
		return "", nil
	}
	if s.split || st.Mode == finding.AtomicWrite {
		if roles.Concurrent() || c.otherWriter(st) != nil {
			return "its own synchronisation shows that it is shared", c.otherWriter(st)
		}
		return "", nil
	}
	if other := c.lockedElsewhere(st); other != nil {
		return fmt.Sprintf("%s accesses it under %s", c.list.Prog.FuncName(other.Fn), other.Locks.Held()[0]), other
	}
	if other := c.otherGoroutine(st); other != nil {
		return fmt.Sprintf("%s accesses it in another goroutine", c.list.Prog.FuncName(other.Fn)), other
	}
	return c.selfConcurrent(st)
}

// selfConcurrent: two goroutines may run the very same update, on state that
// is there for several to use.
func (c *checker) selfConcurrent(st *accesses.Access) (string, *accesses.Access) {
	roles := c.list.Graph.Roles(st.Fn)
	_, global := st.Addr.(*ssa.Global)
	switch {
	case roles.API && global && c.starts:
		return "it is a package variable, and any caller may run this", nil
	case roles.API && !global && lockOf(st) != "":
		return fmt.Sprintf("its type has the lock %s, and any caller may run this", lockOf(st)), nil
	}
	for _, g := range roles.Goroutines {
		if g.Many && (global || sharedByAll(st, g.Start)) {
			return "it runs in goroutines started in a loop", nil
		}
	}
	return "", nil
}

// sharedByAll: the object was there before the loop that starts the
// goroutines: it is captured, and declared outside of it.
func sharedByAll(st *accesses.Access, start ssa.CallInstruction) bool {
	root, ok := st.Path.Root.(ssa.Value)
	if !ok || root.Parent() != start.Parent() || root.Parent() == st.Fn {
		return false
	}
	instr, ok := root.(ssa.Instruction)
	return !ok || instr.Block().Dominates(start.Block()) && instr.Block() != start.Block()
}

// lockOf names the lock in the struct that holds the field, if it has one.
func lockOf(a *accesses.Access) string {
	fa, ok := a.Addr.(*ssa.FieldAddr)
	if !ok {
		return ""
	}
	t := fa.X.Type().Underlying().(*types.Pointer).Elem()
	st, ok := t.Underlying().(*types.Struct)
	if !ok {
		return ""
	}
	for f := range st.Fields() {
		if lockset.IsLock(f.Type()) {
			return f.Name()
		}
	}
	return ""
}

// lockedElsewhere gives another function's access that holds a lock of the same object.
func (c *checker) lockedElsewhere(st *accesses.Access) *accesses.Access {
	return c.find(st, func(a *accesses.Access) bool {
		for _, h := range a.Locks.Held() {
			if _, under := a.Path.Under(accesspath.Path{Root: h.Path.Root}); under || h.Path.Fields == "" {
				return true
			}
		}
		return false
	})
}

// otherGoroutine gives an access by another goroutine than the one that runs st.
func (c *checker) otherGoroutine(st *accesses.Access) *accesses.Access {
	mine := c.list.Graph.Roles(st.Fn)
	return c.find(st, func(a *accesses.Access) bool {
		theirs := c.list.Graph.Roles(a.Fn)
		if theirs.Unknown || len(theirs.Goroutines)+len(mine.Goroutines) == 0 {
			return false
		}
		single, other := mine.Single(), theirs.Single()
		return single != other && (mine.API || single != nil) && (theirs.API || other != nil)
	})
}

func (c *checker) otherWriter(st *accesses.Access) *accesses.Access {
	return c.find(st, func(a *accesses.Access) bool {
		return a.Mode == finding.Write || a.Mode == finding.AtomicWrite
	})
}

// find gives the first access of another function that fits and conflicts.
func (c *checker) find(st *accesses.Access, fits func(*accesses.Access) bool) *accesses.Access {
	for _, a := range c.byName[st.Name] {
		if a.Fn != st.Fn && a.Map == st.Map && fits(a) &&
			(finding.Conflicts(a.Mode, st.Mode) || a.Mode == finding.AtomicWrite) {
			return a
		}
	}
	return nil
}
