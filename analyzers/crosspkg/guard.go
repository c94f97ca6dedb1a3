package crosspkg

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/internal/knowledge"
)

// Guard is a lock that guards a variable, going by the accesses to it.
type Guard struct {
	Name    string    // "c.mu" as the first guarded access writes it
	With    []*Access // hold it
	Without []*Access // do not; those that say nothing are in neither
	Bare    []*Access // reads that do not either, where the writes alone are judged
	// Others is how many more accesses are known, which say nothing: a caller may hold the lock, or the object is new.
	Others int

	id lockID
}

// Near reports whether the lock lies in an object that the variable lies in too, or is a package variable.
func (g *Guard) Near() bool { return g.id.near }

// lockID names a lock relative to the variable that it may guard.
type lockID struct {
	class string
	// near: the lock lies in an object that the variable lies in too, or
	// is a package variable. Else any lock of the class counts.
	near bool
}

// Infer finds the lock that guards the variable with these accesses; nil if
// none is evident.
func Infer(all []*Access) *Guard {
	var best *Guard
	for _, id := range candidates(all) {
		g := splitAccesses(all, id, heldAsNear)
		if g.convincing() && (best == nil || number(g.With) > number(best.With)) {
			best = g
		}
	}
	if best != nil {
		return best
	}
	for _, id := range candidates(all) {
		if g := splitAccesses(all, id, heldAnywhere); g.amongWriters() {
			return g
		}
	}
	for _, id := range candidates(all) {
		if g := splitAccesses(all, id, heldAsNear); id.near && g.ofLone() {
			return g
		}
	}
	return nil
}

// ofLone reports whether every write holds the lock, a function does nothing else under it, and few functions read
// without it: why else would that one lock?
func (g *Guard) ofLone() bool {
	return slices.ContainsFunc(g.With, func(a *Access) bool { return a.Lone }) && len(g.Without) > 0 &&
		writes(g.With) > 0 && writes(g.Without) == 0 && functions(g.Without) <= knowledge.Exceptions
}

// amongWriters reports whether the writers agree on the guard, and some reader too, which would see a write
// without it. Then it judges writes alone.
func (g *Guard) amongWriters() bool {
	isRead := func(a *Access) bool { return !a.Writes() }
	g.Bare = slices.DeleteFunc(slices.Clone(g.Without), (*Access).Writes)
	g.Without = slices.DeleteFunc(g.Without, isRead)
	writers := slices.DeleteFunc(slices.Clone(g.With), isRead)
	return functions(writers) >= knowledge.WritersHeld && functions(g.Without) <= knowledge.WritersExcept &&
		len(g.Without) > 0 && len(writers) < len(g.With)
}

// candidates lists the locks that any access holds, near ones first.
func candidates(all []*Access) []lockID {
	var ids []lockID
	for _, a := range all {
		for _, h := range a.Held {
			if id := (lockID{h.Class, h.Near}); h.Class != "" && !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
		}
	}
	slices.SortFunc(ids, func(a, b lockID) int {
		return cmp.Or(cmp.Compare(orderOf(a), orderOf(b)), strings.Compare(a.class, b.class))
	})
	return ids
}

func orderOf(id lockID) int {
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

func heldAsNear(a *Access, id lockID) verdict {
	v := without
	for _, h := range a.Held {
		if h.Class != id.class {
			continue
		}
		if id.near == h.Near && !(h.Read && a.Mode == finding.Write) {
			return with
		}
		v = unclear
	}
	if a.Unknown || slices.Contains(a.May, id.class) {
		return unclear
	}
	return v
}

// heldAnywhere judges by the class of the lock alone, wherever it lies.
func heldAnywhere(a *Access, id lockID) verdict {
	for _, h := range a.Held {
		if h.Class == id.class && !(h.Read && a.Mode == finding.Write) {
			return with
		}
	}
	if a.Unknown || slices.Contains(a.May, id.class) {
		return unclear
	}
	return without
}

func splitAccesses(all []*Access, id lockID, judge func(*Access, lockID) verdict) *Guard {
	g := &Guard{id: id}
	for _, a := range all {
		switch held := judge(a, id); {
		case held == with:
			g.With = append(g.With, a)
			g.Name = cmp.Or(g.Name, nameAt(a, id))
		case held == without && !a.Exempt:
			g.Without = append(g.Without, a)
		default:
			g.Others += a.countAlike()
		}
	}
	return g
}

// nameAt returns the lock as the source writes it at a, or as Type.field where
// the source has no name for the object.
func nameAt(a *Access, id lockID) string {
	for _, h := range a.Held {
		if h.Class == id.class && h.Name != "" {
			return h.Name
		}
	}
	return id.class[strings.LastIndexByte(id.class, '/')+1:]
}

// convincing reports whether the accesses agree on the lock well enough, and
// some guarded write makes it worth guarding.
func (g *Guard) convincing() bool {
	held, share := knowledge.FarHeld, knowledge.FarShare
	if g.id.near {
		held, share = knowledge.NearHeld, knowledge.NearShare
	}
	n, other := number(g.With), number(g.Without)
	return n >= held && float64(n) >= share*float64(n+other) &&
		writes(g.With) > 0 && functions(g.Without) <= g.allowed()
}

// allowed is how many functions may go without the lock. A variable with one
// assignment is likely set up once, and the lock there for something else.
func (g *Guard) allowed() int {
	switch {
	case !g.id.near:
		return knowledge.FarExceptions
	case g.setOnce():
		return knowledge.Exceptions
	}
	return max(knowledge.Exceptions, number(g.With)/knowledge.ExceptionsShare)
}

// encloses reports whether the lock is a field of another type than the one that has the variable v: of one that
// holds such objects, while others are copies, or on their own.
func (g *Guard) encloses(v finding.Variable) bool {
	owner := v.Package + "." + v.Type + "."
	lock, inPackage := strings.CutPrefix(g.id.class, v.Package+".")
	isVariable := inPackage && !strings.Contains(lock, ".")
	return v.Type != "" && !isVariable && !strings.HasPrefix(g.id.class, owner)
}

func (g *Guard) setOnce() bool {
	var stores []*Access
	for _, a := range slices.Concat(g.With, g.Without) {
		if a.Mode == finding.Write {
			stores = append(stores, a)
		}
	}
	return number(stores) == 1 && !stores[0].Map && !stores[0].Update
}

func functions(list []*Access) int {
	seen := map[[2]string]bool{}
	for _, a := range list {
		seen[[2]string{a.Package, a.Function}] = true
	}
	return len(seen)
}

func number(list []*Access) int {
	n := 0
	for _, a := range list {
		n += a.countAlike()
	}
	return n
}

func writes(list []*Access) int {
	n := 0
	for _, a := range list {
		if a.Mode == finding.Write {
			n += a.countAlike()
		}
	}
	return n
}

// Count is the evidence in numbers. Accesses that prove nothing are not silently left out of them: a person
// that counts the accesses in the source finds all.
//
//	c.mu is held at 4 of 5 accesses: 3 of 3 writes, 1 of 2 reads
//	c.mu is held at 4 of 5 accesses that were compared: 3 of 3 writes, 1 of 2 reads (2 others were not)
func (g *Guard) Count() string {
	without := slices.Concat(g.Without, g.Bare)
	held, total := number(g.With), number(g.With)+number(without)
	w, wo := writes(g.With), writes(without)
	compared, others := "", ""
	if g.Others > 0 {
		compared, others = " that were compared", fmt.Sprintf(" (%d others were not)", g.Others)
	}
	if g.Others == 1 {
		others = " (1 other was not)"
	}
	return fmt.Sprintf("%s is held at %d of %d accesses%s: %d of %d writes, %d of %d reads%s",
		g.Name, held, total, compared, w, w+wo, held-w, total-w-wo, others)
}
