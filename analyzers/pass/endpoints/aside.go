package endpoints

import (
	"slices"

	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
	"github.com/interlock-go/interlock/analyzers/pass/lockset"
)

// A lock that is held over two halves makes one step of them only if the variable's writers hold it too. The lock of
// another object does not:
//
//	func (b *Buffer) Append(o *Buffer) { b.mu.Lock(); n := o.Len(); b.data = append(b.data, o.First(n)...) … }
//
// It is left aside where the code shows that another lock guards the variable, that the function takes at each half,
// and that nothing in the package writes the variable under the lock.

// findAside sets the locks that are left aside, once all events are known.
func (c *checker) findAside() {
	most := map[accesspath.Name]map[string]int{} // locks of a class that are held at a write of the variable
	for _, f := range c.functions {
		for _, e := range f.events {
			if !e.op.writes() {
				continue
			}
			if most[e.name] == nil {
				most[e.name] = map[string]int{}
			}
			for _, h := range e.held {
				most[e.name][h.Class] = max(most[e.name][h.Class], e.ofClass(h.Class))
			}
		}
	}
	for _, f := range c.functions {
		for _, e := range f.events {
			if held := most[e.name]; held != nil && len(e.held) > 1 {
				e.aside = slices.DeleteFunc(slices.Clone(e.held), func(h lockset.Held) bool { return !leftAside(e, h, held) })
			}
		}
	}
}

// ofClass counts the locks of the class that are held.
func (e *event) ofClass(class string) (n int) {
	for _, h := range e.held {
		if h.Class == class {
			n++
		}
	}
	return n
}

// leftAside reports whether e holds beside h the lock that guards its variable, and no write, of those that hold so
// many locks of each class, holds h too.
func leftAside(e *event, h lockset.Held, most map[string]int) bool {
	if h.Class == "" || h.Since == nil || h.Read {
		return false
	}
	return slices.ContainsFunc(e.held, func(guard lockset.Held) bool {
		if guard.Since == h.Since || sameLock(guard, h) || !isNearEnd(e, guard) || most[guard.Class] == 0 {
			return false
		}
		if guard.Class == h.Class { // another object's
			return h.Path.Root != nil && !inObject(e, h) && most[h.Class] < 2
		}
		return most[h.Class] == 0
	})
}

// inObject reports whether h lies in the object that holds e's variable, by their names.
func inObject(e *event, h lockset.Held) bool {
	_, under := e.path.Under(h.Path.Owner())
	return under
}

// isAside reports whether h is left aside at e.
func (e *event) isAside(h lockset.Held) bool {
	return slices.ContainsFunc(e.aside, func(a lockset.Held) bool { return a.Since == h.Since && a.Path == h.Path })
}

// joinedAside reports whether a lock that is left aside holds both.
func joinedAside(t, u *event) bool {
	return slices.ContainsFunc(t.aside, func(h lockset.Held) bool {
		return slices.ContainsFunc(u.held, func(g lockset.Held) bool { return sameLock(h, g) && h.Since == g.Since })
	})
}
