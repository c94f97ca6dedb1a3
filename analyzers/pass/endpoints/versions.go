package endpoints

import (
	"cmp"
	"go/token"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/pass/accesses"
	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
)

// A write need not look at the tested variable again to be right after a gap: it may look at a variable that
// moves with it, in the critical section of the write, and turn back. Two forms are known. A version is
// compared for being equal with the one that was read together with the variable; and other fields of the
// object say the same as the variable does. Both hold only if each writer of the variable changes the other one
// too, in the same critical section.

// Version means that a function changes something only where a variable is equal to a parameter or a part of
// it. Exported for facts, which are encoded.
type Version struct {
	Name   accesspath.Name
	Param  int    // from which the variable is reached, as in Effect
	Fields string // the part selected from it
	Value  int    // parameter that it is compared with
}

// version is a Version as a function sees it, of its own or of one that it calls.
type version struct {
	name  accesspath.Name
	path  accesspath.Path
	value ssa.Value
}

// deciding lists the reads under the lock of u that decide whether u is made at all, by the branches that ask
// for them.
func (f *function) deciding(u *event) map[*branch][]*event {
	found := map[*branch][]*event{}
	for _, b := range f.branches {
		var reads []*event
		for r := range b.hits {
			if r.op == read && r.at != u.at && sameRegion(r, u) {
				reads = append(reads, r)
			}
		}
		if len(reads) > 0 && leadingSide(b.at.Block(), u.at.Block()) >= 0 {
			found[b] = reads
		}
	}
	return found
}

// leadingSide returns the successor of b by which alone control comes to block
// to; -1 if both lead there, or none.
func leadingSide(b, to *ssa.BasicBlock) int {
	yes, no := onward(b, b.Succs[0], b), onward(b, b.Succs[1], b)
	switch {
	case yes[to] == no[to]:
		return -1
	case yes[to]:
		return 0
	}
	return 1
}

// askedFor names the variables that decide, read under the lock of u, whether u is made.
func (f *function) askedFor(u *event) []accesspath.Name {
	names := slices.Clone(u.asked)
	for _, reads := range f.deciding(u) {
		for _, r := range reads {
			if !slices.Contains(names, r.name) {
				names = append(names, r.name)
			}
		}
	}
	slices.SortFunc(names, func(a, b accesspath.Name) int { return cmp.Compare(a.String(), b.String()) })
	return names
}

// versions lists the values that have to be equal for u to be made.
func (f *function) versions(u *event) []version {
	list := slices.Clone(u.versions)
	for b, reads := range f.deciding(u) {
		cond, not := plainCondition(b.at.Cond)
		asks, ok := cond.(*ssa.BinOp)
		equal := 0
		switch {
		case !ok || asks.Op != token.EQL && asks.Op != token.NEQ:
			continue
		case (asks.Op == token.NEQ) != not:
			equal = 1
		}
		if leadingSide(b.at.Block(), u.at.Block()) != equal {
			continue
		}
		for _, r := range reads {
			for _, sides := range [][2]ssa.Value{{asks.X, asks.Y}, {asks.Y, asks.X}} {
				if slices.Contains(f.outcomes[sides[0]], r) {
					list = append(list, version{r.name, r.path, sides[1]})
				}
			}
		}
	}
	return list
}

// plainCondition leaves out negations; negated reports whether their number is odd.
func plainCondition(v ssa.Value) (plain ssa.Value, negated bool) {
	for {
		not, ok := v.(*ssa.UnOp)
		if !ok || not.Op != token.NOT {
			return v, negated
		}
		v, negated = not.X, !negated
	}
}

// versioned reports whether u is made only where a version is still the one
// that was read in the critical section of t, and every writer of t's variable
// changes the version.
func (c *checker) versioned(f *function, t, u *event) bool {
	return slices.ContainsFunc(f.versions(u), func(v version) bool {
		for r := range f.testsBehind(v.value) {
			if r.name == v.name && r.path == v.path && sameRegion(r, t) && c.movesWith(t, v.name) {
				return true
			}
		}
		return false
	})
}

// confirmed reports whether u is made only where other fields of the object
// allow it, of which every writer that disturbs the test changes one.
func (c *checker) confirmed(f *function, p pair) bool {
	peers := slices.DeleteFunc(f.askedFor(p.use), func(n accesspath.Name) bool {
		return n == p.test.name || n.Package != p.test.name.Package || n.Type != p.test.name.Type
	})
	if len(peers) == 0 {
		return false
	}
	return !slices.ContainsFunc(c.writers[p.test.name], func(w *accesses.Access) bool {
		return disturbs(operationOf(w), p) && !c.changesToo(w, peers...)
	})
}

// movesWith reports whether all writers of the variable that t reads change
// the named one too, in the same critical section.
func (c *checker) movesWith(t *event, name accesspath.Name) bool {
	return !slices.ContainsFunc(c.writers[t.name], func(w *accesses.Access) bool { return !c.changesToo(w, name) })
}

// changesToo reports whether the critical section of w changes one of the
// named variables.
func (c *checker) changesToo(w *accesses.Access, names ...accesspath.Name) bool {
	return slices.ContainsFunc(c.byFn[w.Fn], func(v *accesses.Access) bool {
		oneWay := w.Instr.Block().Dominates(v.Instr.Block()) || v.Instr.Block().Dominates(w.Instr.Block())
		return v.Writes() && slices.Contains(names, v.Name) && oneWay && oneSection(w, v)
	})
}

// oneSection reports whether one critical section holds both accesses.
func oneSection(a, b *accesses.Access) bool {
	for _, h := range a.Locks.Held() {
		if g, ok := b.Locks.Has(h.Path); ok && g.Since == h.Since {
			return true
		}
	}
	return false
}

// asksItself reports whether the call leads to a function that looks at the variable of t under its own lock
// and returns the answer: the caller need not know.
func (f *function) asksItself(call *ssa.Call, t *event) bool {
	return slices.ContainsFunc(f.byName[t.name], func(e *event) bool {
		return e.at == call && e.op == read && len(e.held) > 0 && len(e.tells) > 0 && e.path == t.path
	})
}
