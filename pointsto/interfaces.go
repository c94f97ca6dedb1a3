package pointsto

import "go/types"

// interfaceValues are the values that are put into interfaces, with one node for all values
// of one type. The value that a type assertion gets out of an interface is distinguished
// by its type alone.
type interfaceValues struct {
	g           *graph
	byType      map[int]boxedValue // by type id
	byInterface map[int]boxedValue // of interfaces that type assertions name
}

type boxedValue struct {
	node node
	typ  types.Type
}

func newInterfaceValues(g *graph) *interfaceValues {
	return &interfaceValues{g: g, byType: map[int]boxedValue{}, byInterface: map[int]boxedValue{}}
}

// valuesOf returns the node of all values of type t that are in interfaces, or none.
func (b *interfaceValues) valuesOf(id int, t types.Type) node {
	if types.IsInterface(t) || !holdsPointers(t, 0) {
		return none
	}
	if have, ok := b.byType[id]; ok {
		return have.node
	}
	made := boxedValue{b.g.addNode(t), t}
	b.byType[id] = made
	for _, hub := range b.byInterface {
		b.joinBoxed(made, hub)
	}
	return made.node
}

// implementersOf returns the node of all values in interfaces that implement i.
func (b *interfaceValues) implementersOf(id int, i *types.Interface) node {
	if have, ok := b.byInterface[id]; ok {
		return have.node
	}
	made := boxedValue{b.g.addNode(i), i}
	b.byInterface[id] = made
	for _, from := range b.byType {
		b.joinBoxed(from, made)
	}
	return made.node
}

func (b *interfaceValues) joinBoxed(from, hub boxedValue) {
	i := hub.typ.(*types.Interface)
	if hasMethodNamed(from.typ, i.Method(0)) && types.Implements(from.typ, i) {
		b.g.connect(from.node, hub.node, flow)
	}
}

// hasMethodNamed reports whether t has a method of m's name. That is much faster to find
// than whether t implements an interface, and mostly false.
func hasMethodNamed(t types.Type, m *types.Func) bool {
	obj, _, _ := types.LookupFieldOrMethod(t, true, m.Pkg(), m.Name())
	_, isMethod := obj.(*types.Func)
	return isMethod
}
