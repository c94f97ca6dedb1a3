package pointsto

import "go/types"

// node is a value of the program, or the contents of a location.
type node int32

const none node = -1 // stands for memory that holds no pointers

// marks are the facts of a node. The first four run against the flow of
// values, the others with it.
type marks uint8

const (
	// escapes means that a value of the node may come to where another goroutine finds it.
	escapes marks = 1 << iota
	// escapesExternal means that it may reach external code.
	escapesExternal
	// printed means that it may reach code that reads it by reflection and calls its
	// String, Error, MarshalJSON and the like, and keeps nothing.
	printed
	// typeKnown means that external code may make objects of its type.
	typeKnown
	// shared means that the node may hold an object that another goroutine can reach.
	shared
	// unknown means that the node may hold an object that external code has returned.
	unknown

	backward = escapes | escapesExternal | printed | typeKnown
	forward  = shared | unknown
)

// kind is which marks an edge lets through.
type kind uint8

const (
	flow    kind = iota // the value itself: everything
	derived             // a pointer into the object: forward marks
	foreign             // a type assertion: objects of unknown code only
	holds               // a closure and its captured variables: backward marks
)

var through = [...]marks{flow: backward | forward, derived: forward, foreign: unknown, holds: escapes}

type edge struct {
	from, to        node
	kind            kind
	nextOut, nextIn int32 // indexes of edges, -1 at the end
}

// graph is the flow of pointers through the program, for an inclusion-based
// analysis in which fields are distinguished by their type and name, not by their
// object, so that all questions are about paths.
type graph struct {
	marks            []marks
	types            [][]types.Type // that the node's values have; several for fields of generic types
	object           []bool         // the node is an allocation
	cell             []node         // contents of the variable that the node is the address of, or none
	out, in          []int32
	edges            []edge
	work             []event
	isInterfaceSlice []bool // the node is a slice of interfaces

	// joined is called for lists between which values flow.
	joined func(a, b node)

	// grow is called for marks that a node of a type has just been given.
	grow func(n node, t types.Type, m marks)
	// marked is called for new marks of a node.
	marked func(n node, m marks)
}

// event is marks that a node has received and that have not been propagated yet.
type event struct {
	node node
	new  marks
}

func (g *graph) addNode(t types.Type) node {
	n := node(len(g.marks))
	g.marks = append(g.marks, 0)
	g.object = append(g.object, false)
	g.cell = append(g.cell, none)
	g.out, g.in = append(g.out, -1), append(g.in, -1)
	g.types = append(g.types, nil)
	g.isInterfaceSlice = append(g.isInterfaceSlice, t != nil && isInterfaceSlice(t))
	if t != nil {
		g.types[n] = []types.Type{t}
	}
	return n
}

// addType adds a type of n's values.
func (g *graph) addType(n node, t types.Type) {
	for _, have := range g.types[n] {
		if have == t || types.Identical(have, t) {
			return
		}
	}
	g.types[n] = append(g.types[n], t)
	if g.marks[n] != 0 {
		g.grow(n, t, g.marks[n])
	}
}

// setObject records that n is an allocation.
func (g *graph) setObject(n node) {
	if n != none && !g.object[n] {
		g.object[n] = true
		if g.hasMarks(n, escapes) {
			g.addMarks(n, shared)
		}
	}
}

// setCell records that n is the address of a variable with these contents.
func (g *graph) setCell(n, contents node) {
	g.cell[n] = contents
	g.addMarks(contents, contentMarks(g.marks[n]))
}

// connect lets the marks of kind k through between from and to.
func (g *graph) connect(from, to node, k kind) {
	if from == none || to == none || from == to {
		return
	}
	i := int32(len(g.edges))
	g.edges = append(g.edges, edge{from, to, k, g.out[from], g.in[to]})
	g.out[from], g.in[to] = i, i
	if k == flow && g.isInterfaceSlice[from] && g.isInterfaceSlice[to] {
		g.joined(from, to)
	}
	g.addMarks(to, g.marks[from]&forward&through[k])
	g.addMarks(from, g.marks[to]&backward&through[k])
}

// unifyContents makes one of the contents of two locations.
func (g *graph) unifyContents(a, b node) {
	g.connect(a, b, flow)
	g.connect(b, a, flow)
}

func (g *graph) addMarks(n node, m marks) {
	if n == none {
		return
	}
	if m&escapesExternal != 0 {
		m |= escapes
	}
	if m&unknown != 0 || m&escapes != 0 && g.object[n] {
		m |= shared
	}
	if m &^= g.marks[n]; m != 0 {
		g.marks[n] |= m
		g.work = append(g.work, event{n, m})
	}
}

func (g *graph) hasMarks(n node, m marks) bool { return n != none && g.marks[n]&m != 0 }

// spread carries marks on until nothing changes.
func (g *graph) spread() {
	for len(g.work) > 0 {
		e := g.work[len(g.work)-1]
		g.work = g.work[:len(g.work)-1]
		if m := e.new & forward; m != 0 {
			for i := g.out[e.node]; i >= 0; i = g.edges[i].nextOut {
				g.addMarks(g.edges[i].to, m&through[g.edges[i].kind])
			}
		}
		if m := e.new & backward; m != 0 {
			for i := g.in[e.node]; i >= 0; i = g.edges[i].nextIn {
				g.addMarks(g.edges[i].from, m&through[g.edges[i].kind])
			}
		}
		g.addMarks(g.cell[e.node], contentMarks(e.new))
		for _, t := range g.types[e.node] {
			g.grow(e.node, t, e.new)
		}
		g.marked(e.node, e.new)
	}
}

// contentMarks returns the marks that follow for the contents of an object from
// those of a pointer to it.
func contentMarks(m marks) marks {
	var c marks
	if m&escapes != 0 {
		c |= escapes | shared // others may read it, and store values that they have shared
	}
	if m&escapesExternal != 0 {
		c |= escapesExternal | unknown
	}
	if m&printed != 0 {
		c |= printed
	}
	if m&unknown != 0 { // the object is not ours: others have it
		c |= escapes | shared | unknown
	}
	return c
}
