package lockset

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"sync"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
)

// status of one lock. Absent means not held and not touched.
type status int

const (
	absent   status = iota
	held            // for writing
	heldRead        // for reading
	maybe           // held on some ways here
	released        // released though the function had not taken it
	unsure          // released on some ways here
)

type hold struct {
	status status
	since  ssa.Instruction // took it; nil: held on entry, or taken in several places
	class  string
	// back: the function gave it up before without having taken it, so that
	// to take it again changes nothing for the caller.
	back bool
}

// Held is a lock that is held.
type Held struct {
	Path  accesspath.Path
	Read  bool            // the read side of a reader/writer lock only
	Since ssa.Instruction // the instruction that took it; nil if the caller did, or several may have
	Class string          // pkg.Type.field, pkg.var; "" if it has no such name
	// Back: the function had given the lock up for its caller, and has taken it again.
	Back bool
}

// String returns the lock's path, with " (read)" for the read side.
func (h Held) String() string {
	if h.Read {
		return h.Path.String() + " (read)"
	}
	return h.Path.String()
}

// State is the locks at one instruction. It is never changed once made.
type State struct {
	locks  map[accesspath.Path]hold
	defers []*ssa.Defer // that have run on some way here, in order of the blocks
	// Unknown: a caller may hold locks that are not listed.
	Unknown bool
	// unseen: so may the callers of a function value, which no call of the package shows.
	unseen bool

	once sync.Once
	held []Held // the result of Held, once it was asked for
}

// Held lists the locks that are surely held, by path. The list is not to be
// changed.
func (s *State) Held() []Held {
	s.once.Do(func() { s.held = slices.Clip(s.listHeld()) })
	return s.held
}

func (s *State) listHeld() []Held {
	return s.list(func(h hold) bool { return !isTurn(h.class) })
}

// Turns lists the channels and flags that are surely held as locks, by path.
func (s *State) Turns() []Held { return s.list(func(h hold) bool { return isTurn(h.class) }) }

// list lists the locks that are surely held, of those that are wanted, by path.
func (s *State) list(wanted func(hold) bool) []Held {
	if len(s.locks) == 0 {
		return nil
	}
	var list []Held
	for p, h := range s.locks {
		if (h.status == held || h.status == heldRead) && wanted(h) {
			list = append(list, h.heldAt(p))
		}
	}
	slices.SortFunc(list, func(a, b Held) int {
		return cmp.Or(cmp.Compare(a.Path.String(), b.Path.String()), cmp.Compare(a.Class, b.Class))
	})
	return list
}

// Has returns the lock at path p if it is surely held.
func (s *State) Has(p accesspath.Path) (Held, bool) {
	p = s.coveredBy(p)
	h := s.locks[p]
	return h.heldAt(p), h.status == held || h.status == heldRead
}

// coveredBy returns the path by which the state knows the lock at p: p itself, or one that names all
// elements of a list.
func (s *State) coveredBy(p accesspath.Path) accesspath.Path {
	if s.locks[p].status != absent || !strings.Contains(p.Fields, "[") {
		return p
	}
	best := p
	for all := range s.locks {
		if rest, ok := p.Under(all); ok && rest == "" && all != p && (best == p || all.Fields < best.Fields) {
			best = all
		}
	}
	return best
}

// Known is the state of one lock at an instruction, held or not.
type Known struct {
	Path   accesspath.Path
	Class  string
	Status string // in words: held, held for reading, held on some paths, released, released on some paths
}

// Unclear reports whether the paths to the instruction disagree about the lock.
func (k Known) Unclear() bool {
	return k.Status == statusNames[maybe] || k.Status == statusNames[unsure]
}

// Released reports whether the function has released the lock for its caller on
// every path to the instruction.
func (k Known) Released() bool { return k.Status == statusNames[released] }

var statusNames = [...]string{
	held: "held", heldRead: "held for reading", maybe: "held on some paths",
	released: "released", unsure: "released on some paths",
}

// Known lists all locks of which something is known, in no order.
func (s *State) Known() []Known {
	var list []Known
	for p, h := range s.locks {
		if h.status != absent && !isTurn(h.class) {
			list = append(list, Known{p, h.class, statusNames[h.status]})
		}
	}
	return list
}

func (h hold) heldAt(p accesspath.Path) Held {
	return Held{p, h.status == heldRead, h.since, h.class, h.back}
}

// MayHold reports whether the lock at p is held on some way here.
func (s *State) MayHold(p accesspath.Path) bool {
	switch s.locks[s.coveredBy(p)].status {
	case held, heldRead, maybe:
		return true
	}
	return false
}

// MayHoldClass reports whether some lock of the class may be held.
func (s *State) MayHoldClass(class string) bool {
	for _, h := range s.locks {
		if h.class == class && (h.status == held || h.status == heldRead || h.status == maybe) {
			return true
		}
	}
	return false
}

// MayHoldClasses lists the classes of which some lock may be held, sorted.
func (s *State) MayHoldClasses() []string {
	var classes []string
	for _, h := range s.locks {
		if h.class != "" && (h.status == held || h.status == heldRead || h.status == maybe) {
			classes = append(classes, h.class)
		}
	}
	slices.Sort(classes)
	return slices.Compact(classes)
}

func (s *State) withHold(p accesspath.Path, h hold) *State {
	c := &State{locks: maps.Clone(s.locks), defers: s.defers, Unknown: s.Unknown, unseen: s.unseen}
	if c.locks == nil {
		c.locks = map[accesspath.Path]hold{}
	}
	if h.status == absent {
		delete(c.locks, p)
	} else {
		c.locks[p] = h
	}
	return c
}

func (s *State) withDefer(d *ssa.Defer) *State {
	if slices.Contains(s.defers, d) {
		return s
	}
	return &State{locks: s.locks, defers: append(slices.Clip(s.defers), d), Unknown: s.Unknown, unseen: s.unseen}
}

// acquire and release give the state after an operation on the lock at p.
func (s *State) acquire(p accesspath.Path, h hold) *State {
	old := s.locks[p]
	if h.status == heldRead && old.status == held {
		return s // stays held for writing
	}
	h.back = old.status == released
	return s.withHold(p, h)
}

func (s *State) release(p accesspath.Path, class string) *State {
	switch h := s.locks[p]; h.status {
	case held, heldRead, maybe:
		if h.back {
			return s.withHold(p, hold{status: released, class: class})
		}
		return s.withHold(p, hold{})
	case absent:
		// One of all elements: the others stay.
		if all := s.coveredBy(p); all != p {
			h.status, h.class = maybe, class
			return s.withHold(all, h)
		}
		// One of several that were taken in a loop, perhaps.
		if some := anonymous(class); class != "" && s.locks[some].status != absent {
			return s.withHold(some, hold{})
		}
		// Or one that another call of the same function has returned.
		for q, h := range s.locks {
			if h.class == class && (h.status == held || h.status == heldRead || h.status == maybe) && sameResult(p, q) {
				return s.withHold(q, hold{})
			}
		}
	}
	return s.withHold(p, hold{status: released, class: class})
}

// sameResult reports whether the paths start from two calls of one function with the same arguments, as getters return
// the same object each time:
//
//	r.Members().Lock(); …; r.Members().Unlock()
func sameResult(p, q accesspath.Path) bool {
	a, isCall := p.Root.(*ssa.Call)
	b, both := q.Root.(*ssa.Call)
	if !isCall || !both || p.Fields != q.Fields || a.Call.Method != b.Call.Method ||
		ir.Origin(a.Call.StaticCallee()) != ir.Origin(b.Call.StaticCallee()) ||
		a.Call.StaticCallee() == nil && !a.Call.IsInvoke() {
		return false
	}
	same := func(x, y ssa.Value) bool { return x == y || accesspath.Of(x) == accesspath.Of(y) }
	return (!a.Call.IsInvoke() || same(a.Call.Value, b.Call.Value)) && slices.EqualFunc(a.Call.Args, b.Call.Args, same)
}

// forgetOld returns the state when v is computed: its value in an earlier round
// of a loop has no name any more.
func (s *State) forgetOld(v ssa.Value) *State {
	if len(s.locks) == 0 || !accesspath.MayRoot(v) {
		return s
	}
	return s.rename(func(p accesspath.Path) bool { return p.Uses(v) })
}

// reassign returns the state after the variable at p is assigned: locks that
// were reached through it have no name any more.
func (s *State) reassign(p accesspath.Path) *State {
	if len(s.locks) == 0 {
		return s
	}
	return s.rename(func(q accesspath.Path) bool {
		_, under := q.Under(p)
		return under
	})
}

// rename leaves the locks with a lost path known by their class only.
func (s *State) rename(lost func(accesspath.Path) bool) *State {
	out := s
	for p, h := range s.locks {
		if p.Root == nil || !lost(p) {
			continue
		}
		out = out.withHold(p, hold{})
		some := anonymous(h.class)
		switch {
		case h.class == "":
		case h.status == held, h.status == heldRead, h.status == maybe && s.locks[some].status == absent:
			out = out.withHold(some, h)
		}
	}
	return out
}

// joinStates returns the state that holds on both of two ways that meet.
func joinStates(a, b *State) *State {
	if a == nil || a == b {
		return b
	}
	if b == nil {
		return a
	}
	out := &State{
		locks: map[accesspath.Path]hold{}, defers: a.defers, Unknown: a.Unknown || b.Unknown, unseen: a.unseen || b.unseen,
	}
	for p, h := range a.locks {
		out.locks[p] = joinHold(h, b.locks[p])
	}
	for p, h := range b.locks {
		if _, both := a.locks[p]; !both {
			out.locks[p] = joinHold(h, hold{})
		}
	}
	for _, d := range b.defers {
		out = out.withDefer(d)
	}
	return out
}

func joinHold(a, b hold) hold {
	h := hold{class: cmp.Or(a.class, b.class)}
	if a.since == b.since {
		h.since = a.since
	}
	h.back = a.back && b.back || a.back && b.status == absent || b.back && a.status == absent
	x, y := min(a.status, b.status), max(a.status, b.status)
	switch {
	case x == y:
		h.status = x
	case x == held && y == heldRead:
		h.status = heldRead
	case x == absent && y >= released || y == unsure && x == released:
		h.status = unsure
	default:
		h.status = maybe
	}
	return h
}

func equalStates(a, b *State) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Unknown == b.Unknown && a.unseen == b.unseen &&
		maps.Equal(a.locks, b.locks) && slices.Equal(a.defers, b.defers)
}

// Free reports whether surely no lock is held, by this function or a caller.
func (s *State) Free() bool {
	if s.Unknown {
		return false
	}
	for _, h := range s.locks {
		if h.status == held || h.status == heldRead || h.status == maybe {
			return false
		}
	}
	return true
}
