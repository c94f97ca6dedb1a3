package pointsto

import "go/types"

// boxes are the values that are put into interfaces: one node for all values
// of one type. What a type assertion gets out of an interface is distinguished by
// its type alone.
type boxes struct {
	g     *graph
	boxed map[int]box // by type id
	hubs  map[int]box // of interfaces that type assertions name
}

type box struct {
	node node
	typ  types.Type
}

func newBoxes(g *graph) *boxes {
	return &boxes{g: g, boxed: map[int]box{}, hubs: map[int]box{}}
}

// box returns the node of all values of type t that are in interfaces, or none.
func (b *boxes) box(id int, t types.Type) node {
	if types.IsInterface(t) || !holdsPointers(t, 0) {
		return none
	}
	if have, ok := b.boxed[id]; ok {
		return have.node
	}
	made := box{b.g.add(t), t}
	b.boxed[id] = made
	for _, hub := range b.hubs {
		b.join(made, hub)
	}
	return made.node
}

// hub returns the node of all values in interfaces that implement i.
func (b *boxes) hub(id int, i *types.Interface) node {
	if have, ok := b.hubs[id]; ok {
		return have.node
	}
	made := box{b.g.add(i), i}
	b.hubs[id] = made
	for _, from := range b.boxed {
		b.join(from, made)
	}
	return made.node
}

func (b *boxes) join(from, hub box) {
	i := hub.typ.(*types.Interface)
	if has(from.typ, i.Method(0)) && types.Implements(from.typ, i) {
		b.g.connect(from.node, hub.node, flow)
	}
}

// has reports whether t has a method of m's name: much faster than to see
// whether it implements an interface, and mostly no.
func has(t types.Type, m *types.Func) bool {
	obj, _, _ := types.LookupFieldOrMethod(t, true, m.Pkg(), m.Name())
	_, isMethod := obj.(*types.Func)
	return isMethod
}
