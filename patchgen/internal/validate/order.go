package validate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/pass/callgraph"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
	"github.com/interlock-go/interlock/analyzers/pass/lockset"
	"github.com/interlock-go/interlock/patchgen/internal/facts"
	"github.com/interlock-go/interlock/patchgen/internal/session"
)

// lockGraph is the order of the lock classes of a module: an edge where a lock
// is waited for, by a function or by what it calls, while another may be held.
// A call that is not static stands for every function that it may run by its
// signature: that finds the ways through interfaces and stored callbacks, and
// some that do not exist. As only what is new counts, those do little harm.
type lockGraph struct {
	edges map[[2]string]bool
	sure  map[[2]string]bool // those of edges that a resolved call makes
	sites map[edgeSite]int
	where map[edgeSite]madeBy
}

// madeBy is the call that makes an edge.
type madeBy struct {
	pkg  *session.Package
	call ssa.CallInstruction
}

func (m madeBy) String() string { return at(m.pkg, m.call) }

// edgeSite is an edge that a declared function makes. Two readers at once do not wait for each other, unless a writer
// waits between them: shared says that only read sides are taken, so that a write side in place of one is new.
type edgeSite struct {
	from, to, function string
	shared             bool
	by                 string // see acquisition
	library            bool   // it is one of backEdges
}

// acquisition is one side of a lock of a class. Where only a guess leads to it, by is the function that was guessed: it
// is new, be the class taken through another guess already.
type acquisition struct {
	class string
	read  bool
	by    string
}

type classSet map[acquisition]bool

// has reports whether either side of a lock of the class is taken.
func (c classSet) has(class string) bool {
	for a := range c {
		if a.class == class {
			return true
		}
	}
	return false
}

// clashes reports whether a side of a lock of the class is taken for which a holder waits, of the read side or another.
func (c classSet) clashes(class string, readHeld bool) bool {
	for a := range c {
		if a.class == class && !(a.read && readHeld) {
			return true
		}
	}
	return false
}

// lockOrder demands that the patch adds no edge to a cycle of the graph. An
// edge from a class to itself is one: a second lock of the same object, or of
// two in an order that somebody else may have the other way round.
func (j *judge) lockOrder() {
	j.knownHolders()
	old, now := j.old.lockGraph(), j.now.lockGraph()
	var added []edgeSite
	for site, n := range now.sites {
		if n > old.sites[site] {
			added = append(added, site)
		}
	}
	slices.SortFunc(added, func(a, b edgeSite) int {
		return cmp.Or(strings.Compare(a.from, b.from), strings.Compare(a.to, b.to), strings.Compare(a.function, b.function),
			strings.Compare(a.by, b.by))
	})
	told := map[madeBy]bool{}
	for _, e := range added {
		switch made := now.where[e]; {
		case !e.library || e.from != e.to:
			j.orderOf(now, e)
		case !told[made]: // one doubt for all that the library may call
			told[made] = true
			j.calledBack(made, e)
		}
	}
}

// orderOf judges a new edge. A cycle of calls that are all resolved is a witness; one that goes through a guess is a
// doubt.
func (j *judge) orderOf(g *lockGraph, e edgeSite) {
	made := g.where[e]
	guess, isGuess := "", e.by != "" || e.library
	if e.library {
		guess = ", if a library that the call comes to calls back to it"
	} else if isGuess {
		guess = fmt.Sprintf(", if the call there runs %s", e.by)
		// A library calls the methods of what it is handed, and the only function that fits is no guess.
		callee, _ := callgraph.Target(made.call.Common())
		isGuess = callee == nil && len(j.now.Calls.Runs(made.call)) > 1
	}
	if e.from == e.to {
		if !isGuess {
			j.add("order", "%s could be locked again while it is held (%s)%s", short(e.to), made, guess)
		} else {
			j.doubt(place{made.pkg, made.call}, finding.Heavy, "order", "if so, this deadlocks",
				"%s could be locked again while it is held (%s)%s", short(e.to), made, guess)
		}
		return
	}
	cycle, sure := way(g.sure, e.to, e.from), !isGuess
	if cycle == nil {
		cycle, sure = g.way(e.to, e.from), false
	}
	if cycle == nil {
		return
	}
	reason := fmt.Sprintf("%s would be locked while %s is held (%s), which closes the cycle %s%s", short(e.to),
		short(e.from), made, strings.Join(append([]string{short(e.from)}, cycle...), " -> "), guess)
	if sure {
		j.add("order", "%s", reason)
	} else {
		j.doubt(place{made.pkg, made.call}, finding.Heavy, "order",
			"a call of the cycle is not resolved; if it is real, this may deadlock", "%s", reason)
	}
}

// way returns the shortest way from one class to another, both included; nil if
// there is none.
func (g *lockGraph) way(from, to string) []string { return way(g.edges, from, to) }

func way(edges map[[2]string]bool, from, to string) []string {
	next := map[string][]string{}
	for e := range edges {
		next[e[0]] = append(next[e[0]], e[1])
	}
	seen := map[string]bool{from: true}
	work := [][]string{{from}}
	for len(work) > 0 {
		path := work[0]
		work = work[1:]
		last := path[len(path)-1]
		if last == to {
			for i := range path {
				path[i] = short(path[i])
			}
			return path
		}
		slices.Sort(next[last])
		for _, class := range next[last] {
			if !seen[class] {
				seen[class] = true
				work = append(work, append(slices.Clone(path), class))
			}
		}
	}
	return nil
}

// lockGraph returns the graph of one state of the module, made once.
func (s *state) lockGraph() *lockGraph {
	if s.graph == nil {
		s.graph = s.makeLockGraph()
	}
	return s.graph
}

func (s *state) makeLockGraph() *lockGraph {
	g := &lockGraph{edges: map[[2]string]bool{}, sure: map[[2]string]bool{}, sites: map[edgeSite]int{},
		where: map[edgeSite]madeBy{}}
	for _, p := range s.Packages {
		each(p, func(fn *ssa.Function, instr ssa.Instruction, st *lockset.State) {
			// What the lockset pass knows, and what it has lost.
			held := st.MayHoldClasses()
			for _, class := range s.pilesOf(fn).before[instr].unnamed() {
				if !slices.Contains(held, class) {
					held = append(held, class)
				}
			}
			for _, call := range facts.CallsRunAt(p, instr) {
				held := heldAt(held, call, st)
				if len(held) == 0 {
					continue
				}
				s.backEdges(g, madeBy{p, call}, fn, instr, held)
				for to := range s.takenBy(p, call) {
					for _, from := range held {
						if facts.Released(p, call, instr, from) {
							continue
						}
						shared := to.read && isReadHeld(st, from)
						site := edgeSite{from, to.class, declared(p, fn), shared, to.by, false}
						g.edges[[2]string{from, to.class}] = true
						if to.by == "" {
							g.sure[[2]string{from, to.class}] = true
						}
						g.sites[site]++
						g.where[site] = madeBy{p, call}
					}
				}
			}
		})
	}
	return g
}

// isReadHeld reports whether all locks of a class that may be held are surely held, and for reading.
func isReadHeld(st *lockset.State, class string) bool {
	sure := 0
	for _, h := range st.Held() {
		if h.Class == class && h.Read {
			sure++
		}
	}
	may := 0
	for _, k := range st.Known() {
		if k.Class == class && st.MayHold(k.Path) {
			may++
		}
	}
	return may > 0 && sure == may
}

// isReadLock reports whether a call that takes a lock takes its read side.
func isReadLock(call ssa.CallInstruction) bool { return facts.MethodName(call) == "RLock" }

// sumTakes returns the lock classes that each function may wait for, by itself
// and through all that it calls.
func (s *state) sumTakes() map[*ssa.Function]classSet {
	if s.takes != nil {
		return s.takes
	}
	type caller struct {
		fn *ssa.Function
		by string
	}
	takes := map[*ssa.Function]classSet{}
	callersOf := map[*ssa.Function][]caller{}
	var work []*ssa.Function
	for _, p := range s.Packages {
		for _, fn := range p.IR.Funcs {
			takes[fn] = classSet{}
			for instr := range ir.Instructions(fn) {
				call, ok := instr.(ssa.CallInstruction)
				if _, isGo := instr.(*ssa.Go); !ok || isGo {
					continue
				}
				if class := acquired(p, call); class != "" {
					takes[fn][acquisition{class, isReadLock(call), ""}] = true
				}
				for _, t := range s.Calls.Runs(call) {
					by := ""
					if callgraph.CallsAnyMethod(call) {
						by = s.guess(call, t)
					}
					callersOf[t] = append(callersOf[t], caller{fn, by})
				}
			}
			work = append(work, fn)
		}
	}
	// What a function takes only grows, so this ends.
	for len(work) > 0 {
		fn := work[0]
		work = work[1:]
		var outside []acquisition // of locks that each call shares with others
		for a := range takes[fn] {
			if !isOfCall(fn, a.class) {
				outside = append(outside, a)
			}
		}
		for _, c := range callersOf[fn] {
			before := len(takes[c.fn])
			for _, a := range outside {
				if c.by != "" && isOwnLock(fn, a.class) {
					a.by = c.by
				}
				takes[c.fn][a] = true
			}
			if len(takes[c.fn]) > before {
				work = append(work, c.fn)
			}
		}
	}
	s.takes = takes
	return takes
}

// takenBy returns the classes that a call may wait for.
func (s *state) takenBy(p *session.Package, call ssa.CallInstruction) classSet {
	all := classSet{}
	if class := acquired(p, call); class != "" {
		all[acquisition{class, isReadLock(call), ""}] = true
		return all
	}
	for _, t := range s.Calls.Runs(call) {
		by := ""
		for a := range s.sumTakes()[t] {
			if isOfCall(t, a.class) {
				continue
			}
			if fn, _ := callgraph.Target(call.Common()); fn == nil || isOwnLock(t, a.class) {
				by = cmp.Or(by, s.guess(call, t))
				a.by = cmp.Or(by, a.by)
			}
			all[a] = true
		}
	}
	return all
}

// isOwnLock reports whether a class is of locks in the receiver of fn. Only for these the guessed methods are kept
// apart, as there would be many.
func isOwnLock(fn *ssa.Function, class string) bool {
	recv := fn.Signature.Recv()
	if recv == nil {
		return false
	}
	named, ok := ir.Named(recv.Type())
	return ok && named.Obj().Pkg() != nil &&
		strings.HasPrefix(class, named.Obj().Pkg().Path()+"."+named.Obj().Name()+".")
}
