package simulation

import (
	"go/types"
	"maps"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/pass/ir"
)

// object is something in memory: a variable, a channel, a map.
type object struct {
	stamp int
	// base is the unknown pointer that leads here, for objects from outside.
	base value
	// escaped: code that is not simulated may reach it.
	escaped bool
	cells   map[*ref]value
	syncs   map[*ref]lockState
	ch      *channel
	pairs   []pair // of a map
}

type pair struct{ key, val value }

// channel is not changed, but replaced.
type channel struct {
	size   value
	buf    []value
	closed bool
	// closer is the operation that has closed it. States that differ in it alone are the same.
	closer ssa.Instruction
	// fires: a timer, or a context that others may cancel: it may be received from at
	// any time. once: but not again.
	fires, once bool
	// children are the contexts that are done with this one.
	children []int64
}

// lockState is the state of a lock, WaitGroup, Cond or Once.
type lockState struct {
	writer  hold
	readers []hold
	waiting int   // writers that wait for readers, and keep new readers out
	count   int64 // of a WaitGroup; of a Once 1 while it runs, and 2 then
	waiters []int // goroutines in Wait of a Cond
}

// hold is a goroutine that holds a lock, and where it has taken it.
type hold struct {
	g    int // from 1
	at   ssa.Instruction
	call int // the number of the frame
}

// editObject returns the object for changes.
func (st *state) editObject(id int64) *object {
	o := st.objs[id]
	if o.stamp != st.stamp {
		c := *o
		c.stamp = st.stamp
		c.cells, c.syncs = maps.Clone(o.cells), maps.Clone(o.syncs)
		c.pairs = slices.Clone(o.pairs)
		o = &c
		st.objs[id] = o
	}
	return o
}

func (st *state) putObject(id int64, o *object) {
	for int64(len(st.objs)) <= id {
		st.objs = append(st.objs, nil)
	}
	o.stamp = st.stamp
	st.objs[id] = o
}

// placeWithin reports whether place p is base or within it, and the steps on the way.
func placeWithin(p, base *ref) (steps []int64, ok bool) {
	for ; p != base; p = p.parent {
		if p == nil {
			return nil, false
		}
		steps = append(steps, p.n)
	}
	slices.Reverse(steps)
	return steps, true
}

func (m *machine) follow(base *ref, steps []int64) *ref {
	for _, s := range steps {
		base = m.in.internPlace(base, s)
	}
	return base
}

// loadPlace returns the value at place p of an object, of type t.
func (m *machine) loadPlace(st *state, id int64, p *ref, t types.Type) value {
	o := st.objs[id]
	if v, ok := o.cells[p]; ok && v.kind != record {
		return v
	}
	switch t.Underlying().(type) {
	case *types.Struct, *types.Array:
		return m.loadAll(o, p)
	}
	// A part of a struct that was stored as a whole.
	var steps []int64
	for q := p; q != nil; q = q.parent {
		steps = append(steps, q.n)
		if v, ok := o.cells[q.parent]; ok && v.kind == symbol {
			for _, s := range slices.Backward(steps) {
				v = m.in.internTerm("field", s, v)
			}
			return v
		}
	}
	if o.base.kind != none {
		v := o.base
		if p == nil && m.isErrorVariable(v.ref.at) {
			return m.in.internBoxed(t, m.in.internTerm("load", 0, v))
		}
		for _, s := range slices.Backward(steps) {
			v = m.in.internTerm("field", s, v)
		}
		return m.in.internTerm("load", 0, v)
	}
	return zeroValue(&m.in, t)
}

// isErrorVariable reports whether at is a package variable for an error, which holds one from the start:
//
//	var errClosed = errors.New("closed")
//
// It is not nil, and of which type it is nobody knows: it is boxed with the type of the variable.
func (m *machine) isErrorVariable(at any) bool {
	global, ok := at.(*ssa.Global)
	if !ok {
		return false
	}
	is, known := m.errors[global]
	if !known {
		is = types.Identical(pointedType(global.Type()), types.Universe.Lookup("error").Type()) && isInitialised(global)
		m.errors[global] = is
	}
	return is
}

// isInitialised reports whether the declaration of a package variable sets it. Of other packages it is assumed.
func isInitialised(global *ssa.Global) bool {
	start := global.Pkg.Func("init")
	if start == nil || len(start.Blocks) == 0 {
		return true
	}
	for instr := range ir.Instructions(start) {
		if store, ok := instr.(*ssa.Store); ok && store.Addr == global {
			return true
		}
	}
	return false
}

// loadAll returns the struct or array at place p.
func (m *machine) loadAll(o *object, p *ref) value {
	if o.base.kind != none {
		return m.in.internTerm("load", placeID(p), o.base)
	}
	var places []*ref
	for q := range o.cells {
		if _, ok := placeWithin(q, p); ok && q != p {
			places = append(places, q)
		}
	}
	slices.SortFunc(places, func(a, b *ref) int { return a.id - b.id })
	var cells []value
	for _, q := range places {
		steps, _ := placeWithin(q, p)
		cells = append(cells, value{kind: text, ref: m.follow(nil, steps)}, o.cells[q])
	}
	return m.in.record(cells)
}

func placeID(p *ref) int64 {
	if p == nil {
		return 0
	}
	return int64(p.id)
}

// storePlace puts v at place p.
func (m *machine) storePlace(st *state, id int64, p *ref, v value) {
	o := st.editObject(id)
	m.left -= len(o.cells)
	if o.cells == nil {
		o.cells = map[*ref]value{}
	}
	for q := range o.cells {
		if _, ok := placeWithin(q, p); ok {
			delete(o.cells, q)
		}
	}
	if v.kind != record {
		o.cells[p] = v
	} else {
		for i := 0; i < len(v.ref.vals); i += 2 {
			steps, _ := placeWithin(v.ref.vals[i].ref, nil)
			o.cells[m.follow(p, steps)] = v.ref.vals[i+1]
		}
	}
	if o.escaped {
		m.escape(st, v)
	}
}

// selectPart returns a field or element of a struct or array value.
func (m *machine) selectPart(v value, n int64, t types.Type) value {
	if v.kind != record {
		return m.in.internTerm("field", n, v)
	}
	first := m.in.internPlace(nil, n)
	var cells []value
	for i := 0; i < len(v.ref.vals); i += 2 {
		steps, ok := placeWithin(v.ref.vals[i].ref, first)
		switch {
		case !ok:
		case len(steps) == 0:
			return v.ref.vals[i+1]
		default:
			cells = append(cells, value{kind: text, ref: m.follow(nil, steps)}, v.ref.vals[i+1])
		}
	}
	if len(cells) > 0 {
		return m.in.record(cells)
	}
	return zeroValue(&m.in, t)
}

// target returns the object and place that pointer v leads to. The target of an unknown
// pointer is an object from outside; a nil pointer leads nowhere.
func (m *machine) target(st *state, v value) (id int64, place *ref, ok bool) {
	switch v.kind {
	case address:
		return v.n, v.ref, true
	case symbol:
		id := m.objectID(v.ref, 0, 0)
		if id >= int64(len(st.objs)) || st.objs[id] == nil {
			st.putObject(id, &object{base: v, escaped: true})
		}
		return id, nil, true
	}
	return 0, nil, false
}

// objectID numbers objects by the instruction that makes them, so that states compare.
func (m *machine) objectID(at any, g int, n int64) int64 {
	key := objectKey{at, g, n}
	id, ok := m.ids[key]
	if !ok {
		id = int64(len(m.ids))
		m.ids[key] = id
	}
	return id
}

type objectKey struct {
	at any
	g  int
	n  int64
}

// makeObject adds an object that instruction at of goroutine g makes. The number of
// one that it has made before is used again when nothing leads to that any more.
func (m *machine) makeObject(st *state, at any, g int, o *object) value {
	for n := int64(0); ; n++ {
		m.left -= len(st.objs) / perStep
		id := m.objectID(at, g, n)
		if id >= int64(len(st.objs)) || st.objs[id] == nil || !st.reachable(id) {
			st.putObject(id, o)
			st.forgetAccesses(id)
			return value{kind: address, n: id}
		}
		if n == maxAlike && !st.isCrowd() || n == maxCrowd {
			m.truncated = true
			return value{}
		}
	}
}

// escape marks all that v leads to as known to others.
func (m *machine) escape(st *state, v value) {
	visited := map[int64]bool{}
	var visit func(v value)
	visit = func(v value) {
		switch v.kind {
		case address, slice:
			// Objects that others know already were visited when they came to know them, but such an object may hold
			// a value that was stored there since.
			if o := st.objs[v.n]; visited[v.n] || o.escaped && o.base.kind == none {
				return
			}
			visited[v.n] = true
			if !st.objs[v.n].escaped {
				st.editObject(v.n).escaped = true
			}
			st.objs[v.n].values(visit)
		case closure, tuple, record, boxed:
			if v.ref.name == "context" { // others may wait for it, and only cancel ends that
				return
			}
			for _, w := range v.ref.vals {
				visit(w)
			}
		}
	}
	visit(v)
}

// values lists the values that are stored in an object.
func (o *object) values(visit func(value)) {
	for _, v := range o.cells {
		visit(v)
	}
	if o.ch != nil {
		for _, v := range o.ch.buf {
			visit(v)
		}
	}
	for _, p := range o.pairs {
		visit(p.key)
		visit(p.val)
	}
}

// reachable reports whether a goroutine or an object that others know leads to object id.
func (st *state) reachable(id int64) bool {
	seen := map[int64]bool{}
	var visit func(v value)
	visit = func(v value) {
		switch v.kind {
		case address, slice:
			if o := st.objs[v.n]; !seen[v.n] && o != nil {
				seen[v.n] = true
				o.values(visit)
				if o.ch != nil {
					for _, c := range o.ch.children {
						seen[c] = true
					}
				}
			}
		case closure, tuple, record, boxed:
			for _, w := range v.ref.vals {
				visit(w)
			}
		}
	}
	// From the stacks, and from objects that code outside of the scope may reach.
	for _, g := range st.gs {
		g.values(visit)
	}
	for i, o := range st.objs {
		if o != nil && o.escaped && !seen[int64(i)] {
			seen[int64(i)] = int64(i) == id && o.base.kind != none || seen[int64(i)]
			o.values(visit)
		}
	}
	return seen[id]
}
