package pointsto

import (
	"go/types"

	"golang.org/x/tools/go/ssa"
)

// lists are the slices of interfaces. Most are the arguments of functions that
// print, a few go to where anything may happen to them; so their elements have
// a place for all slices between which values flow, and not one for their type
// as those of other slices.
type lists struct {
	places *places
	next   map[node]node // on the way to the node that stands for all that are joined
	elems  map[node]*place
}

func newLists(ps *places) *lists {
	l := &lists{ps, map[node]node{}, map[node]*place{}}
	ps.g.joined = l.join
	return l
}

func isList(t types.Type) bool {
	s, ok := t.Underlying().(*types.Slice)
	return ok && types.IsInterface(s.Elem())
}

func (l *lists) find(n node) node {
	root := n
	for next, ok := l.next[root]; ok; next, ok = l.next[root] {
		root = next
	}
	for n != root { // the next search is shorter
		n, l.next[n] = l.next[n], root
	}
	return root
}

// join records that values flow between a and b: both may be the same slice.
func (l *lists) join(a, b node) {
	a, b = l.find(a), l.find(b)
	if a == b {
		return
	}
	l.next[a] = b
	p, q := l.elems[a], l.elems[b]
	switch {
	case p == nil:
	case q == nil:
		l.elems[b] = p
	default:
		l.places.merge(p, q)
	}
}

// elem returns the place of the elements of slice n.
func (l *lists) elem(n node, t types.Type) *place {
	root := l.find(n)
	p := l.elems[root]
	if p == nil {
		p = l.places.make(t)
		l.elems[root] = p
	}
	return p
}

// elemOf returns the place of the elements that v leads to: a slice, or a pointer
// to an array.
func (f *flows) elemOf(v ssa.Value) *place {
	switch u := v.Type().Underlying().(type) {
	case *types.Slice:
		if n := f.node(v); n != none && f.list[n] {
			return f.lists.elem(n, u.Elem())
		}
		return f.elem(u.Elem())
	case *types.Pointer:
		a := u.Elem().Underlying().(*types.Array)
		if made, ok := v.(*ssa.Alloc); ok && arguments(made) {
			return f.lists.elem(f.node(v), a.Elem())
		}
		return f.elem(a.Elem())
	}
	return nil
}

// arguments reports whether v is an array of interfaces that is there for its
// elements to be stored and for one slice of it to be made, as for the
// arguments of a variadic function.
func arguments(v *ssa.Alloc) bool {
	a, ok := deref(v.Type()).Underlying().(*types.Array)
	if !ok || !types.IsInterface(a.Elem()) {
		return false
	}
	for _, ref := range *v.Referrers() {
		switch ref := ref.(type) {
		case *ssa.IndexAddr, *ssa.DebugRef:
		case *ssa.Slice:
			if ref.X != v {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// slice: the elements of v are those of v.X.
func (f *flows) slice(v *ssa.Slice) {
	f.connect(f.node(v.X), f.node(v), flow)
	n := f.node(v)
	if n == none || !f.list[n] {
		return
	}
	if _, isPointer := v.X.Type().Underlying().(*types.Pointer); isPointer {
		f.merge(f.elemOf(v.X), f.elemOf(v))
	}
}

// appended: the elements of the slice from come to be elements of the slice to
// too.
func (f *flows) appended(from, to ssa.Value) {
	n := f.node(to)
	if n == none || !f.list[n] {
		return
	}
	if m := f.node(from); m != none && f.list[m] {
		f.connect(f.elemOf(from).contents, f.elemOf(to).contents, flow)
	}
}
