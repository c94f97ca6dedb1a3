package pointsto

import (
	"go/types"

	"golang.org/x/tools/go/ssa"
)

// interfaceSlices are the slices of interfaces. Most are the arguments of functions that
// print, a few go to where anything may happen to them. So all slices between which values
// flow share a location for their elements; those of other slices have one for their type.
type interfaceSlices struct {
	locations *locations
	next      map[node]node // on the way to the node that stands for all that are joined
	elems     map[node]*location
}

func newInterfaceSlices(ps *locations) *interfaceSlices {
	l := &interfaceSlices{ps, map[node]node{}, map[node]*location{}}
	ps.g.joined = l.joinSlices
	return l
}

func isInterfaceSlice(t types.Type) bool {
	s, ok := t.Underlying().(*types.Slice)
	return ok && types.IsInterface(s.Elem())
}

func (l *interfaceSlices) findSet(n node) node {
	root := n
	for next, ok := l.next[root]; ok; next, ok = l.next[root] {
		root = next
	}
	for n != root { // the next search is shorter
		n, l.next[n] = l.next[n], root
	}
	return root
}

// joinSlices records that values flow between a and b, so that both may be the same slice.
func (l *interfaceSlices) joinSlices(a, b node) {
	a, b = l.findSet(a), l.findSet(b)
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
		l.locations.mergeLocations(p, q)
	}
}

// elementLocation returns the location of the elements of slice n.
func (l *interfaceSlices) elementLocation(n node, t types.Type) *location {
	root := l.findSet(n)
	p := l.elems[root]
	if p == nil {
		p = l.locations.newLocation(t)
		l.elems[root] = p
	}
	return p
}

// elemOf returns the location of the elements that v leads to: a slice, or a pointer
// to an array.
func (f *flows) elemOf(v ssa.Value) *location {
	switch u := v.Type().Underlying().(type) {
	case *types.Slice:
		if n := f.nodeOf(v); n != none && f.isInterfaceSlice[n] {
			return f.lists.elementLocation(n, u.Elem())
		}
		return f.elementLocation(u.Elem())
	case *types.Pointer:
		a := u.Elem().Underlying().(*types.Array)
		if made, ok := v.(*ssa.Alloc); ok && isArgumentArray(made) {
			return f.lists.elementLocation(f.nodeOf(v), a.Elem())
		}
		return f.elementLocation(a.Elem())
	}
	return nil
}

// isArgumentArray reports whether v is an array of interfaces that is there for its
// elements to be stored and for one slice of it to be made, as for the
// arguments of a variadic function.
func isArgumentArray(v *ssa.Alloc) bool {
	a, ok := pointedType(v.Type()).Underlying().(*types.Array)
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

// addSlice adds the flow of v, which has the elements of v.X.
func (f *flows) addSlice(v *ssa.Slice) {
	f.connect(f.nodeOf(v.X), f.nodeOf(v), flow)
	n := f.nodeOf(v)
	if n == none || !f.isInterfaceSlice[n] {
		return
	}
	if _, isPointer := v.X.Type().Underlying().(*types.Pointer); isPointer {
		f.mergeLocations(f.elemOf(v.X), f.elemOf(v))
	}
}

// appended records that the elements of the slice from become elements of the slice to
// too.
func (f *flows) appended(from, to ssa.Value) {
	n := f.nodeOf(to)
	if n == none || !f.isInterfaceSlice[n] {
		return
	}
	if m := f.nodeOf(from); m != none && f.isInterfaceSlice[m] {
		f.connect(f.elemOf(from).contents, f.elemOf(to).contents, flow)
	}
}
