package guards

import (
	"cmp"
	"fmt"
	"go/ast"
	"reflect"
	"slices"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/internal/knowledge"
	"github.com/interlock-go/interlock/analyzers/pass/accesses"
	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
	"github.com/interlock-go/interlock/analyzers/pass/callgraph"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
	"github.com/interlock-go/interlock/analyzers/pass/lockset"
)

// Analyzer is the shared pass that finds accesses without the lock that guards
// the variable elsewhere; the checks that report them differ in the locks that
// the access holds instead.
var Analyzer = &analysis.Analyzer{
	Name:       "interlockguards",
	Doc:        "find accesses without the lock that guards the variable elsewhere",
	Run:        findSuspects,
	Requires:   []*analysis.Analyzer{accesses.Analyzer, Annotations},
	ResultType: reflect.TypeFor[[]Suspect](),
}

// Suspect is an access without the guard of its variable, one a function.
type Suspect struct {
	Variable *accesses.Variable
	Lock     string             // the guard, as the source writes it
	Without  *accesses.Access   // does not hold the guard
	With     *accesses.Access   // holds it, conflicts, and may run at the same time
	All      []*accesses.Access // those of the function that do not hold it
	Count    string             // the evidence for the guard in numbers
	// OtherLock: all unprotected accesses to the variable hold another lock of
	// the same object, which its author may have thought to be the guard.
	OtherLock bool
	// Lead: code that sets the variable up, or makes its object as new, may well come before all else; or nothing shows
	// that one of the two is ever called; or all calls of the function that the package shows hold the lock.
	Lead bool
	// Writers: several functions write the variable with the guard, so that it changes while it is in use, and one at most
	// writes it without.
	Writers bool
}

func (l Suspect) holdsOther() bool {
	return slices.ContainsFunc(l.Without.Locks.Held(), func(h lockset.Held) bool {
		_, global := h.Path.Global()
		return !global && l.Without.Near(h)
	})
}

// Evidence returns why the lock is believed to guard, and the other access that may happen.
func (l Suspect) Evidence(list *accesses.List) string {
	what := "write"
	if l.With.Mode == finding.Read {
		what = "read"
	}
	return fmt.Sprintf("%s; %s at %s. Another goroutine may %s it at the same time.", l.Count, l.With.Verb(),
		list.Where(l.With), what)
}

func findSuspects(pass *analysis.Pass) (any, error) {
	list := pass.ResultOf[accesses.Analyzer].(*accesses.List)
	c := &checker{list, pass.ResultOf[Annotations].(Annotated), byFunction(list.All)}
	var suspects []Suspect
	list.Prog.Analyse(pass, func() {
		for _, v := range variables(list) {
			g := c.guardOf(v)
			if g == nil {
				continue
			}
			suspects = append(suspects, c.suspects(v, g)...)
		}
	})
	return withoutEchoes(suspects), nil
}

// withoutEchoes leaves out suspects by implied accesses that say the same as another
// one: of the same expression, as that of a struct with many parts, or of the
// variable that holds the elements, in the same function.
func withoutEchoes(suspects []Suspect) []Suspect {
	seen := map[ast.Expr]bool{}
	type holder struct {
		name accesspath.Name
		fn   *ssa.Function
	}
	held := map[holder]bool{}
	for _, l := range suspects {
		if !l.Without.Implied {
			seen[l.Without.Expr], held[holder{l.Variable.Name, l.Without.Fn}] = true, true
		}
	}
	return slices.DeleteFunc(suspects, func(l Suspect) bool {
		a := l.Without
		if !a.Implied {
			return false
		}
		echo := seen[a.Expr] || a.Elements && held[holder{l.Variable.Name, a.Fn}]
		seen[a.Expr] = true
		return echo
	})
}

// suspects returns the suspects of v. A variable is the matter of one check: if some
// access holds no lock at all, that is its fault.
func (c *checker) suspects(v *accesses.Variable, g *guard) []Suspect {
	var suspects []Suspect
	for _, unprotected := range c.perFunction(g.without) {
		if l, ok := c.suspect(v, g, unprotected); ok {
			suspects = append(suspects, l)
		}
	}
	other := !slices.ContainsFunc(suspects, func(l Suspect) bool { return !l.holdsOther() })
	for i := range suspects {
		suspects[i].OtherLock = other
	}
	return suspects
}

type checker struct {
	list        *accesses.List
	annotations Annotated
	byFn        map[*ssa.Function][]*accesses.Access
}

// variables lists those to judge: one that is also accessed atomically
// follows other rules, and is left out.
func variables(list *accesses.List) []*accesses.Variable {
	return slices.DeleteFunc(list.Guardable(), func(v *accesses.Variable) bool { return v.Atomic || len(v.Accesses) == 0 })
}

// perFunction keeps one access of each function: the first write, or the first read.
func (c *checker) perFunction(unprotected []*accesses.Access) [][]*accesses.Access {
	index := map[string]int{}
	var groups [][]*accesses.Access
	for _, a := range unprotected {
		name := c.list.Prog.FuncName(a.Fn)
		i, ok := index[name]
		if !ok {
			i = len(groups)
			index[name] = i
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], a)
	}
	for _, g := range groups {
		slices.SortStableFunc(g, func(a, b *accesses.Access) int {
			return cmp.Or(cmp.Compare(rankAccess(a), rankAccess(b)), cmp.Compare(a.Expr.Pos(), b.Expr.Pos()))
		})
	}
	return groups
}

func rankAccess(a *accesses.Access) int {
	if a.Mode == finding.Write {
		return 0
	}
	return 1
}

// suspect finds the first of the unprotected accesses of one function for which
// a guarded access can run at the same time and conflicts.
func (c *checker) suspect(v *accesses.Variable, g *guard, unprotected []*accesses.Access) (Suspect, bool) {
	for _, a := range unprotected {
		q := question{c, v, g, a, nil}
		if blameless.Holds(q) {
			continue
		}
		if q.b = c.otherSide(q); q.b != nil {
			return Suspect{Variable: v, Lock: g.text, Without: a, With: q.b, All: unprotected, Count: g.count,
				Lead: doubtful.Holds(q), Writers: g.hasWriters()}, true
		}
	}
	return Suspect{}, false
}

// hasWriters reports whether several functions write the variable with the guard, and one at most without it.
func (g *guard) hasWriters() bool { return countWriters(g.with) > 1 && countWriters(g.without) <= 1 }

// countWriters counts the functions of the accesses that write.
func countWriters(all []*accesses.Access) int {
	writers := map[*ssa.Function]bool{}
	for _, a := range all {
		if a.Writes() {
			writers[ir.Outermost(a.Fn)] = true
		}
	}
	return len(writers)
}

func (c *checker) annotated(v *accesses.Variable) bool {
	_, ok := c.annotations[v.Accesses[0].Obj]
	return ok
}

// unseen reports whether a stands in a method of which nothing shows that it is called.
func (c *checker) unseen(a *accesses.Access) bool { return c.list.Graph.Unseen(ir.Outermost(a.Fn)) }

// heldByCallers reports whether a stands in an exported function that the package itself calls only with the lock
// held: others will do so as well.
//
//	h.mu.Lock(); h.Clear(); h.mu.Unlock()
func (c *checker) heldByCallers(a, b *accesses.Access) bool {
	sites := c.list.Graph.Sites(a.Fn)
	return len(sites) > 0 && c.list.Graph.Open(a.Fn) && !slices.ContainsFunc(sites, func(s callgraph.Site) bool {
		return s.Mode == callgraph.Go || !c.holdsAt(s.Caller, s.Instr, b)
	})
}

// holdsAt reports whether caller holds a lock of the class of one that b holds when it makes the call.
func (c *checker) holdsAt(caller *ssa.Function, call ssa.CallInstruction, b *accesses.Access) bool {
	held := false
	c.list.Locks.Walk(caller, func(instr ssa.Instruction, s *lockset.State) {
		held = held || instr == call && slices.ContainsFunc(s.Held(), func(h lockset.Held) bool {
			return slices.ContainsFunc(b.Locks.Held(), func(g lockset.Held) bool { return h.Class != "" && h.Class == g.Class })
		})
	})
	return held
}

// makesFirst reports whether a makes the object in the variable, and nothing else assigns it:
// its users come after it, or would find nil.
func makesFirst(v *accesses.Variable, a *accesses.Access) bool {
	if a.Implied {
		return false
	}
	switch a.Value.(type) {
	case *ssa.MakeMap, *ssa.MakeSlice, *ssa.MakeChan, *ssa.Alloc:
	default:
		return false
	}
	return !slices.ContainsFunc(v.Accesses, func(b *accesses.Access) bool {
		return b != a && b.Mode == finding.Write && !b.Map
	}) && !testsNil(v, a)
}

// testsNil reports whether the function of a makes it lazily, as several may do at once.
func testsNil(v *accesses.Variable, a *accesses.Access) bool {
	return slices.ContainsFunc(v.Accesses, func(b *accesses.Access) bool {
		return b.Fn == a.Fn && b.Mode == finding.Read && !b.Map && b.Path == a.Path
	})
}

// setBefore reports whether a reads a variable that only a set-up writes, and seems to know that it has been: all
// writes come where the variable was found nil, and a does not ask, or they stand in functions that bring
// the object into service and reset nothing, and the function of a has held a lock of theirs since.
//
//	if _, err := c.Start(); err != nil { … }; return c.protocol
func (c *checker) setBefore(v *accesses.Variable, a, guarded *accesses.Access) bool {
	if a.Mode != finding.Read {
		return false
	}
	some, lazy, setUp := false, true, true
	for _, b := range v.Accesses {
		if b.Mode != finding.Write || b.MadeByCallers() || b.MadeHere() {
			continue
		}
		_, resets := b.Value.(*ssa.Const)
		some, lazy = true, lazy && b.IfNil()
		setUp = setUp && !resets && !b.Update && !b.Map && knowledge.StartsUp(ir.Outermost(b.Fn).Name())
	}
	held := slices.ContainsFunc(guarded.Locks.Held(), func(h lockset.Held) bool { return c.list.Synchronised(a, h.Class) })
	return some && (lazy && (!c.asksNil(v, a) || c.madeBefore(v, a)) || setUp && held)
}

// madeBefore reports whether the function of a has found the variable there under its lock, or has made it then.
//
//	s.mu.Lock(); if s.c == nil { s.c = make(chan int) }; s.mu.Unlock(); <-s.c
func (c *checker) madeBefore(v *accesses.Variable, a *accesses.Access) bool {
	return slices.ContainsFunc(v.Accesses, func(b *accesses.Access) bool {
		return b.Fn == a.Fn && b.ComparedToNil() && len(b.Locks.Held()) > 0 && c.before(b, a) &&
			slices.ContainsFunc(v.Accesses, func(m *accesses.Access) bool {
				return m.Fn == a.Fn && m.Mode == finding.Write && m.IfNil() && m.Path == a.Path && holdsLock(m) &&
					c.before(b, m)
			})
	})
}

func (c *checker) asksNil(v *accesses.Variable, a *accesses.Access) bool {
	return slices.ContainsFunc(v.Accesses, func(b *accesses.Access) bool { return b.Fn == a.Fn && b.ComparedToNil() })
}

// otherSide chooses the guarded access to show: one that conflicts with a and
// that another goroutine can run, a write rather than a read, of another
// function rather than the same.
func (c *checker) otherSide(q question) *accesses.Access {
	var best *accesses.Access
	bestScore := -1
	a := q.a
	for _, b := range q.g.with {
		q.b = b
		if !finding.Conflicts(a.Mode, b.Mode) || !accesses.MaySame(a, b) || !c.list.Parallel(a, b) || excluded.Holds(q) {
			continue
		}
		score := 0
		if c.seenToMeet(a, b) {
			score += 4
		}
		if b.Mode == finding.Write {
			score += 2
		}
		if b.Fn != a.Fn {
			score++
		}
		if score > bestScore {
			best, bestScore = b, score
		}
	}
	return best
}

// seenToMeet reports whether two goroutines are seen to reach a and b.
func (c *checker) seenToMeet(a, b *accesses.Access) bool {
	return c.list.Meet(a.Place(), b.Place(), false)
}

// mayBeOrdered reports whether b holds a lock that its takers keep beyond their return, so
// that a may run under it too.
func (c *checker) mayBeOrdered(b *accesses.Access) bool {
	return slices.ContainsFunc(b.Locks.Held(), func(h lockset.Held) bool { return c.list.Locks.Outlives(h.Class) })
}
