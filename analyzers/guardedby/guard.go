package guardedby

import (
	"cmp"
	"fmt"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/accesses"
	"github.com/interlock-go/interlock/analyzers/accesspath"
	"github.com/interlock-go/interlock/analyzers/finding"
)

// All that is opinion about when a lock guards a variable is here. Each
// number was chosen on open-source modules; more of either makes fewer
// findings.
const (
	// A lock in the same object as the field, or a package variable.
	nearHeld  = 2    // accesses that hold it, at least
	nearShare = 0.66 // of all accesses that say anything
	// A lock of some other object: coincidence is likelier.
	farHeld  = 8
	farShare = 0.9
	// A variable that many functions access without the lock has another
	// discipline than the lock: an owner goroutine, a phase of its own.
	exceptions      = 3  // functions, always allowed
	farExceptions   = 2  // the same for locks of other objects
	exceptionsShare = 10 // one more for so many guarded accesses
	// Who owns an object for a while may read it without the lock under
	// which its state changes hands. If writers agree, only they are judged.
	writersHeld   = 4 // functions that write with the lock, at least
	writersExcept = 1 // functions that write without it, at most
)

// lockID names a lock relative to the variable that it may guard.
type lockID struct {
	class string
	// near: the lock lies in an object that the variable lies in too, or
	// is a package variable. Else any lock of the class counts.
	near bool
}

// guard is a lock that is held to guard a variable, and why.
type guard struct {
	id        lockID
	annotated bool
	text      string // "c.mu" as the first guarded access writes it
	with      []*accesses.Access
	without   []*accesses.Access
}

// guardOf finds the guard of v by annotation or by inference; nil if none is
// evident.
func (c *checker) guardOf(v *accesses.Variable) *guard {
	if lock, ok := c.annotation(v); ok {
		return c.split(v, func(a *accesses.Access) verdict { return heldByPath(a, lock) }, &guard{annotated: true, text: lock})
	}
	var best *guard
	for _, id := range candidates(v) {
		g := c.split(v, func(a *accesses.Access) verdict { return heldByClass(a, id) }, &guard{id: id})
		if g.convincing() && (best == nil || len(g.with) > len(best.with)) {
			best = g
		}
	}
	if best != nil {
		return best
	}
	for _, id := range candidates(v) {
		g := c.split(v, func(a *accesses.Access) verdict { return heldAnywhere(a, id.class) }, &guard{id: id})
		if g.amongWriters() {
			return g
		}
	}
	return nil
}

// amongWriters reports whether the writers agree on the guard, and some
// reader too, who would see a write without it. Then it judges writes alone.
func (g *guard) amongWriters() bool {
	isRead := func(a *accesses.Access) bool { return !a.Writes() }
	g.without = slices.DeleteFunc(g.without, isRead)
	writers := slices.DeleteFunc(slices.Clone(g.with), isRead)
	return functions(writers) >= writersHeld && functions(g.without) <= writersExcept &&
		len(g.without) > 0 && len(writers) < len(g.with)
}

// candidates lists the locks that any access holds, near ones first.
func candidates(v *accesses.Variable) []lockID {
	seen := map[lockID]bool{}
	var ids []lockID
	for _, a := range v.Accesses {
		for _, h := range a.Locks.Held() {
			if h.Class == "" {
				continue
			}
			id := lockID{h.Class, a.Near(h)}
			if !seen[id] {
				seen[id] = true
				ids = append(ids, id)
			}
		}
	}
	slices.SortFunc(ids, func(a, b lockID) int {
		return cmp.Or(cmp.Compare(order(a), order(b)), strings.Compare(a.class, b.class))
	})
	return ids
}

func order(id lockID) int {
	if id.near {
		return 0
	}
	return 1
}

// verdict on one access and one lock.
type verdict int

const (
	without verdict = iota
	with
	unclear // a caller may hold it, or another lock of the class is held
)

func heldByClass(a *accesses.Access, id lockID) verdict {
	v := without
	for _, h := range a.Locks.Held() {
		if h.Class != id.class {
			continue
		}
		if id.near == a.Near(h) && !(h.Read && a.Mode == finding.Write) {
			return with
		}
		v = unclear
	}
	if a.Locks.Unknown || a.Locks.MayHoldClass(id.class) {
		return unclear
	}
	return v
}

// heldAnywhere judges by the class of the lock alone, wherever it lies.
func heldAnywhere(a *accesses.Access, class string) verdict {
	for _, h := range a.Locks.Held() {
		if h.Class == class && !(h.Read && a.Mode == finding.Write) {
			return with
		}
	}
	if a.Locks.Unknown || a.Locks.MayHoldClass(class) {
		return unclear
	}
	return without
}

func heldByPath(a *accesses.Access, lock string) verdict {
	want := guardPath(a, lock)
	if h, ok := a.Locks.Has(want); ok {
		if h.Read && a.Mode == finding.Write {
			return unclear // a class of its own
		}
		return with
	}
	if a.Locks.Unknown || a.Locks.MayHold(want) {
		return unclear
	}
	return without
}

// guardPath gives the path of the annotated lock for the object of a.
func guardPath(a *accesses.Access, lock string) accesspath.Path {
	if g, ok := a.Addr.(*ssa.Global); ok {
		if l, ok := g.Pkg.Members[lock].(*ssa.Global); ok {
			return accesspath.Path{Root: l}
		}
	}
	base := a.Path
	if i := strings.LastIndexByte(base.Fields, '.'); i >= 0 {
		base.Fields = base.Fields[:i]
	}
	return base.Plus("." + lock)
}

func (c *checker) split(v *accesses.Variable, judge func(*accesses.Access) verdict, g *guard) *guard {
	for _, a := range v.Accesses {
		switch judge(a) {
		case with:
			g.with = append(g.with, a)
			if g.text == "" {
				g.text = g.name(a)
			}
		case without:
			if !c.beforeSharing(a) && !c.list.Prog.SaysNoLock(a.Fn, a.Expr.Pos()) {
				g.without = append(g.without, a)
			}
		}
	}
	return g
}

// beforeSharing: what only the main goroutine runs may come before any other
// goroutine is started.
func (c *checker) beforeSharing(a *accesses.Access) bool {
	r := c.list.Graph.Roles(a.Fn)
	return r.Main && !r.API && len(r.Goroutines) == 0
}

// name gives the lock as the source writes it at a, or as Type.field where
// the source has no name for the object.
func (g *guard) name(a *accesses.Access) string {
	for _, h := range a.Locks.Held() {
		if h.Class == g.id.class && h.Path.Named() {
			return h.Path.String()
		}
	}
	return g.id.class[strings.LastIndexByte(g.id.class, '/')+1:]
}

// convincing reports whether the accesses agree on the lock well enough, and
// some guarded write makes it worth guarding.
func (g *guard) convincing() bool {
	held, share := farHeld, farShare
	if g.id.near {
		held, share = nearHeld, nearShare
	}
	total := len(g.with) + len(g.without)
	return len(g.with) >= held && float64(len(g.with)) >= share*float64(total) &&
		g.writes(g.with) > 0 && functions(g.without) <= g.allowed()
}

// allowed is how many functions may go without the lock. A variable with one
// assignment is likely set up once, and the lock there for something else.
func (g *guard) allowed() int {
	switch {
	case !g.annotated && !g.id.near:
		return farExceptions
	case g.setOnce():
		return exceptions
	}
	return max(exceptions, len(g.with)/exceptionsShare)
}

func (g *guard) setOnce() bool {
	var stores []*accesses.Access
	for _, a := range slices.Concat(g.with, g.without) {
		if a.Mode == finding.Write {
			stores = append(stores, a)
		}
	}
	return len(stores) == 1 && !stores[0].Map && !stores[0].Update
}

func functions(list []*accesses.Access) int {
	seen := map[*ssa.Function]bool{}
	for _, a := range list {
		seen[a.Fn] = true
	}
	return len(seen)
}

func (g *guard) writes(list []*accesses.Access) int {
	n := 0
	for _, a := range list {
		if a.Mode == finding.Write {
			n++
		}
	}
	return n
}

// count is the evidence in numbers.
func (g *guard) count() string {
	held, total := len(g.with), len(g.with)+len(g.without)
	w, wo := g.writes(g.with), g.writes(g.without)
	s := fmt.Sprintf("%s is held at %d of %d accesses: %d of %d writes, %d of %d reads",
		g.text, held, total, w, w+wo, held-w, total-w-wo)
	if g.annotated {
		s += "; an annotation names it"
	}
	return s
}

func (c *checker) annotation(v *accesses.Variable) (string, bool) {
	obj := v.Accesses[0].Obj
	if lock, ok := c.comments.Guard(obj); ok {
		return lock, true
	}
	return c.imported(obj)
}

func (c *checker) imported(obj *types.Var) (string, bool) {
	var fact Guarded
	if obj.Pkg() == nil || obj.Pkg() == c.pass.Pkg || !c.pass.ImportObjectFact(obj, &fact) {
		return "", false
	}
	return fact.Lock, true
}
