package pointsto

import (
	"go/types"

	"golang.org/x/tools/go/ssa"
	"golang.org/x/tools/go/types/typeutil"
)

// place is a class of memory locations: the field f of all objects of type T,
// the elements of all slices of one type, a package variable, and so on. Two
// locations of different places do not overlap, except that what a struct
// holds by value has places of its own.
type place struct {
	contents node // what is stored there; none if it cannot hold pointers
	typ      types.Type
	uses     uses
	outside  uses   // by code that we do not see, or that reads by reflection
	same     *place // of places that pointers cannot tell apart: the next one on the way to the one that counts
	sub      node   // the object that a pointer to a field leads to without its struct
}

// find returns the place that stands for p and all that are the same.
func (p *place) find() *place {
	for p.same != nil {
		p = p.same
	}
	return p
}

// class distinguishes the places of one type.
type class uint8

const (
	fieldClass class = iota // of an unnamed struct type, or an instance of a generic one
	elemClass
	keyClass
	mapClass
	chanClass
	derefClass
)

type typePlace struct {
	class class
	typ   int // of typeIDs
	index int
}

// places finds the place of a location.
type places struct {
	g       *graph
	fields  map[*types.Var]*place // of other struct types
	typed   map[typePlace]*place
	cells   map[ssa.Value]*place // package variables, and variables that are no structs
	inside  map[types.Type][]*place
	ids     typeutil.Map
	fastIDs map[types.Type]int
	panics  node // what code panics with
	pooled  node // what pools hold
}

func newPlaces(g *graph) *places {
	return &places{
		g: g, fields: map[*types.Var]*place{}, typed: map[typePlace]*place{}, cells: map[ssa.Value]*place{},
		inside: map[types.Type][]*place{}, fastIDs: map[types.Type]int{},
		panics: g.add(types.NewInterfaceType(nil, nil)), pooled: g.add(types.NewInterfaceType(nil, nil)),
	}
}

// id numbers types: identical ones alike.
func (ps *places) id(t types.Type) int {
	if id, ok := ps.fastIDs[t]; ok {
		return id
	}
	id, ok := ps.ids.At(t).(int)
	if !ok {
		id = ps.ids.Len() + 1
		ps.ids.Set(t, id)
	}
	ps.fastIDs[t] = id
	return id
}

func (ps *places) make(t types.Type) *place {
	p := &place{typ: t, contents: none, sub: none}
	ps.grow(p, t)
	return p
}

// grow notes that locations of p have type t, which for fields of generic
// types is one of several.
func (ps *places) grow(p *place, t types.Type) {
	switch {
	case !holdsPointers(t, 0):
	case p.contents == none:
		p.contents = ps.g.add(t)
	default:
		ps.g.addType(p.contents, t)
	}
}

func (ps *places) of(c class, t types.Type, index int, contents types.Type) *place {
	key := typePlace{c, ps.id(t), index}
	p := ps.typed[key]
	if p == nil {
		p = ps.make(contents)
		ps.typed[key] = p
	}
	return p
}

// field returns the place of field i of struct type t.
func (ps *places) field(t types.Type, i int) *place {
	st := t.Underlying().(*types.Struct)
	f := st.Field(i)
	if n, ok := types.Unalias(t).(*types.Named); !ok || n.TypeArgs().Len() > 0 {
		return ps.of(fieldClass, t, i, f.Type())
	}
	f = f.Origin()
	p := ps.fields[f]
	if p == nil {
		p = ps.make(st.Field(i).Type())
		ps.fields[f] = p
	} else {
		ps.grow(p, st.Field(i).Type())
	}
	return p
}

func (ps *places) elem(t types.Type) *place  { return ps.of(elemClass, t, 0, t) }
func (ps *places) deref(t types.Type) *place { return ps.of(derefClass, t, 0, t) }
func (ps *places) mapVal(m *types.Map) *place {
	return ps.of(mapClass, m, 0, m.Elem())
}
func (ps *places) mapKey(m *types.Map) *place {
	return ps.of(keyClass, m, 0, m.Key())
}
func (ps *places) messages(c *types.Chan) *place { return ps.of(chanClass, c.Elem(), 0, c.Elem()) }

// cell returns the place of a variable by its address.
func (ps *places) cell(v ssa.Value) *place {
	p := ps.cells[v]
	if p == nil {
		p = ps.make(deref(v.Type()))
		ps.cells[v] = p
	}
	return p
}

// merge makes one of two places: a pointer may lead to either.
func (ps *places) merge(a, b *place) {
	a, b = a.find(), b.find()
	if a == b {
		return
	}
	if a.contents != none && b.contents != none {
		ps.g.same(a.contents, b.contents)
	}
	if a.sub != none && b.sub != none {
		ps.g.same(a.sub, b.sub)
	} else if b.sub == none {
		b.sub = a.sub
	}
	a.same = b
}

// mergeTypes makes one of the places of two types between which values are
// converted: their names, and the tags of their fields, may differ.
func (ps *places) mergeTypes(t, u types.Type, depth int) {
	if depth > 8 || types.Identical(t, u) {
		return
	}
	// Parts of the two types that match are the same memory after the conversion.
	switch a := t.Underlying().(type) {
	case *types.Struct:
		if b, ok := u.Underlying().(*types.Struct); ok && a.NumFields() == b.NumFields() {
			for i := range a.NumFields() {
				ps.merge(ps.field(t, i), ps.field(u, i))
				ps.mergeTypes(a.Field(i).Type(), b.Field(i).Type(), depth+1)
			}
		}
	case *types.Pointer:
		if b, ok := u.Underlying().(*types.Pointer); ok {
			ps.merge(ps.deref(a.Elem()), ps.deref(b.Elem()))
			ps.mergeTypes(a.Elem(), b.Elem(), depth+1)
		}
	case *types.Slice:
		if b, ok := u.Underlying().(*types.Slice); ok {
			ps.merge(ps.elem(a.Elem()), ps.elem(b.Elem()))
			ps.mergeTypes(a.Elem(), b.Elem(), depth+1)
		}
	case *types.Array:
		if b, ok := u.Underlying().(*types.Array); ok {
			ps.merge(ps.elem(a.Elem()), ps.elem(b.Elem()))
			ps.mergeTypes(a.Elem(), b.Elem(), depth+1)
		}
	case *types.Map:
		if b, ok := u.Underlying().(*types.Map); ok {
			ps.merge(ps.mapKey(a), ps.mapKey(b))
			ps.merge(ps.mapVal(a), ps.mapVal(b))
			ps.mergeTypes(a.Key(), b.Key(), depth+1)
			ps.mergeTypes(a.Elem(), b.Elem(), depth+1)
		}
	case *types.Chan:
		if b, ok := u.Underlying().(*types.Chan); ok {
			ps.merge(ps.messages(a), ps.messages(b))
			ps.mergeTypes(a.Elem(), b.Elem(), depth+1)
		}
	}
}

// within lists the places of what a value of type t holds or leads to in one
// step, those within structs and arrays that it holds by value included.
func (ps *places) within(t types.Type) []*place {
	if list, ok := ps.inside[t]; ok {
		return list
	}
	ps.inside[t] = nil // a type that holds itself by value does not exist
	var list []*place
	switch u := t.Underlying().(type) {
	case *types.Pointer:
		if _, isStruct := u.Elem().Underlying().(*types.Struct); isStruct {
			list = ps.within(u.Elem())
		} else if a, isArray := u.Elem().Underlying().(*types.Array); isArray {
			list = []*place{ps.elem(a.Elem())}
		} else {
			list = []*place{ps.deref(u.Elem())}
		}
	case *types.Slice:
		list = []*place{ps.elem(u.Elem())}
	case *types.Array:
		list = []*place{ps.elem(u.Elem())}
	case *types.Struct:
		for i := range u.NumFields() {
			list = append(list, ps.field(t, i))
		}
	case *types.Map:
		list = []*place{ps.mapKey(u), ps.mapVal(u)}
	case *types.Chan:
		list = []*place{ps.messages(u)}
	}
	ps.inside[t] = list
	return list
}

// whole lists the places that an access to a location of type t touches
// besides the location's own: those of its fields and elements.
func (ps *places) whole(t types.Type) []*place {
	var list []*place
	switch u := t.Underlying().(type) {
	case *types.Struct:
		for i := range u.NumFields() {
			list = append(list, ps.field(t, i))
			list = append(list, ps.whole(u.Field(i).Type())...)
		}
	case *types.Array:
		list = append(list, ps.elem(u.Elem()))
		list = append(list, ps.whole(u.Elem())...)
	}
	return list
}

// deref returns what a pointer of type t leads to.
func deref(t types.Type) types.Type {
	if p, ok := t.Underlying().(*types.Pointer); ok {
		return p.Elem()
	}
	return t
}

// holdsPointers reports whether a value of type t may lead to memory that
// somebody can write. Strings do not.
func holdsPointers(t types.Type, depth int) bool {
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return u.Kind() == types.UnsafePointer
	case *types.Struct:
		for f := range u.Fields() {
			if depth > 8 || holdsPointers(f.Type(), depth+1) {
				return true
			}
		}
		return false
	case *types.Array:
		return depth > 8 || holdsPointers(u.Elem(), depth+1)
	case *types.Tuple:
		return false
	case *types.TypeParam:
		return true
	case *types.Interface:
		return true
	}
	return true
}
