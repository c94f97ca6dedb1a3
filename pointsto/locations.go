package pointsto

import (
	"go/types"

	"golang.org/x/tools/go/ssa"
	"golang.org/x/tools/go/types/typeutil"
)

// location is an abstract location, that is a class of memory addresses: the field f of all
// objects of type T, the elements of all slices of one type, a package variable, and so on.
// Different locations do not overlap, except that structs and arrays in a struct have locations
// of their own.
type location struct {
	contents  node // the values that are stored there; none if it cannot hold pointers
	typ       types.Type
	by        accessedBy
	byOutside accessedBy // by external code, or by code that reads by reflection
	merged    *location  // of locations that pointers cannot tell apart: the next one on the way to the one that counts
	sub       node       // the object that a pointer to a field leads to without its struct
}

// representative returns the location that stands for p and all that are the same.
func (p *location) representative() *location {
	for p.merged != nil {
		p = p.merged
	}
	return p
}

// class distinguishes the locations of one type.
type class uint8

const (
	fieldClass class = iota // of an unnamed struct type, or an instance of a generic one
	elemClass
	keyClass
	mapClass
	chanClass
	derefClass
)

type typedLocation struct {
	class class
	typ   int // of typeIDs
	index int
}

// locations finds the location of an access.
type locations struct {
	g       *graph
	fields  map[*types.Var]*location // of other struct types
	typed   map[typedLocation]*location
	cells   map[ssa.Value]*location // package variables, and variables that are no structs
	inside  map[types.Type][]*location
	ids     typeutil.Map
	fastIDs map[types.Type]int
	panics  node // the values that code panics with
	pooled  node // the objects in pools
}

func newLocations(g *graph) *locations {
	return &locations{
		g: g, fields: map[*types.Var]*location{}, typed: map[typedLocation]*location{}, cells: map[ssa.Value]*location{},
		inside: map[types.Type][]*location{}, fastIDs: map[types.Type]int{},
		panics: g.addNode(types.NewInterfaceType(nil, nil)), pooled: g.addNode(types.NewInterfaceType(nil, nil)),
	}
}

// typeNumber returns a number for a type, the same for identical ones.
func (ps *locations) typeNumber(t types.Type) int {
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

func (ps *locations) newLocation(t types.Type) *location {
	p := &location{typ: t, contents: none, sub: none}
	ps.growType(p, t)
	return p
}

// growType notes that p has type t, which for fields of generic types is one of several.
func (ps *locations) growType(p *location, t types.Type) {
	switch {
	case !holdsPointers(t, 0):
	case p.contents == none:
		p.contents = ps.g.addNode(t)
	default:
		ps.g.addType(p.contents, t)
	}
}

func (ps *locations) locationOf(c class, t types.Type, index int, contents types.Type) *location {
	key := typedLocation{c, ps.typeNumber(t), index}
	p := ps.typed[key]
	if p == nil {
		p = ps.newLocation(contents)
		ps.typed[key] = p
	}
	return p
}

// fieldLocation returns the location of field i of struct type t.
func (ps *locations) fieldLocation(t types.Type, i int) *location {
	st := t.Underlying().(*types.Struct)
	f := st.Field(i)
	if n, ok := types.Unalias(t).(*types.Named); !ok || n.TypeArgs().Len() > 0 {
		return ps.locationOf(fieldClass, t, i, f.Type())
	}
	f = f.Origin()
	p := ps.fields[f]
	if p == nil {
		p = ps.newLocation(st.Field(i).Type())
		ps.fields[f] = p
	} else {
		ps.growType(p, st.Field(i).Type())
	}
	return p
}

func (ps *locations) elementLocation(t types.Type) *location {
	return ps.locationOf(elemClass, t, 0, t)
}
func (ps *locations) pointeeLocation(t types.Type) *location {
	return ps.locationOf(derefClass, t, 0, t)
}
func (ps *locations) mapVal(m *types.Map) *location {
	return ps.locationOf(mapClass, m, 0, m.Elem())
}
func (ps *locations) mapKey(m *types.Map) *location {
	return ps.locationOf(keyClass, m, 0, m.Key())
}
func (ps *locations) messages(c *types.Chan) *location {
	return ps.locationOf(chanClass, c.Elem(), 0, c.Elem())
}

// variableLocation returns the location of a variable by its address.
func (ps *locations) variableLocation(v ssa.Value) *location {
	p := ps.cells[v]
	if p == nil {
		p = ps.newLocation(pointedType(v.Type()))
		ps.cells[v] = p
	}
	return p
}

// mergeLocations makes one of two locations, as a pointer may lead to either.
func (ps *locations) mergeLocations(a, b *location) {
	a, b = a.representative(), b.representative()
	if a == b {
		return
	}
	if a.contents != none && b.contents != none {
		ps.g.unifyContents(a.contents, b.contents)
	}
	if a.sub != none && b.sub != none {
		ps.g.unifyContents(a.sub, b.sub)
	} else if b.sub == none {
		b.sub = a.sub
	}
	a.merged = b
}

// mergeTypes makes one of the locations of two types between which values are
// converted; their names, and the tags of their fields, may differ.
func (ps *locations) mergeTypes(t, u types.Type, depth int) {
	if depth > 8 || types.Identical(t, u) {
		return
	}
	// Parts of the two types that match are the same memory after the conversion.
	switch a := t.Underlying().(type) {
	case *types.Struct:
		if b, ok := u.Underlying().(*types.Struct); ok && a.NumFields() == b.NumFields() {
			for i := range a.NumFields() {
				ps.mergeLocations(ps.fieldLocation(t, i), ps.fieldLocation(u, i))
				ps.mergeTypes(a.Field(i).Type(), b.Field(i).Type(), depth+1)
			}
		}
	case *types.Pointer:
		if b, ok := u.Underlying().(*types.Pointer); ok {
			ps.mergeLocations(ps.pointeeLocation(a.Elem()), ps.pointeeLocation(b.Elem()))
			ps.mergeTypes(a.Elem(), b.Elem(), depth+1)
		}
	case *types.Slice:
		if b, ok := u.Underlying().(*types.Slice); ok {
			ps.mergeLocations(ps.elementLocation(a.Elem()), ps.elementLocation(b.Elem()))
			ps.mergeTypes(a.Elem(), b.Elem(), depth+1)
		}
	case *types.Array:
		if b, ok := u.Underlying().(*types.Array); ok {
			ps.mergeLocations(ps.elementLocation(a.Elem()), ps.elementLocation(b.Elem()))
			ps.mergeTypes(a.Elem(), b.Elem(), depth+1)
		}
	case *types.Map:
		if b, ok := u.Underlying().(*types.Map); ok {
			ps.mergeLocations(ps.mapKey(a), ps.mapKey(b))
			ps.mergeLocations(ps.mapVal(a), ps.mapVal(b))
			ps.mergeTypes(a.Key(), b.Key(), depth+1)
			ps.mergeTypes(a.Elem(), b.Elem(), depth+1)
		}
	case *types.Chan:
		if b, ok := u.Underlying().(*types.Chan); ok {
			ps.mergeLocations(ps.messages(a), ps.messages(b))
			ps.mergeTypes(a.Elem(), b.Elem(), depth+1)
		}
	}
}

// within lists the locations of the memory that a value of type t holds or leads to in one
// step, those within structs and arrays that it holds by value included.
func (ps *locations) within(t types.Type) []*location {
	if list, ok := ps.inside[t]; ok {
		return list
	}
	ps.inside[t] = nil // a type that holds itself by value does not exist
	var list []*location
	switch u := t.Underlying().(type) {
	case *types.Pointer:
		if _, isStruct := u.Elem().Underlying().(*types.Struct); isStruct {
			list = ps.within(u.Elem())
		} else if a, isArray := u.Elem().Underlying().(*types.Array); isArray {
			list = []*location{ps.elementLocation(a.Elem())}
		} else {
			list = []*location{ps.pointeeLocation(u.Elem())}
		}
	case *types.Slice:
		list = []*location{ps.elementLocation(u.Elem())}
	case *types.Array:
		list = []*location{ps.elementLocation(u.Elem())}
	case *types.Struct:
		for i := range u.NumFields() {
			list = append(list, ps.fieldLocation(t, i))
		}
	case *types.Map:
		list = []*location{ps.mapKey(u), ps.mapVal(u)}
	case *types.Chan:
		list = []*location{ps.messages(u)}
	}
	ps.inside[t] = list
	return list
}

// partsOfWhole lists the locations that an access to a value of type t touches besides that of
// the value itself, those of its fields and elements.
func (ps *locations) partsOfWhole(t types.Type) []*location {
	var list []*location
	switch u := t.Underlying().(type) {
	case *types.Struct:
		for i := range u.NumFields() {
			list = append(list, ps.fieldLocation(t, i))
			list = append(list, ps.partsOfWhole(u.Field(i).Type())...)
		}
	case *types.Array:
		list = append(list, ps.elementLocation(u.Elem()))
		list = append(list, ps.partsOfWhole(u.Elem())...)
	}
	return list
}

// pointedType returns the type of the object that a pointer of type t leads to.
func pointedType(t types.Type) types.Type {
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
