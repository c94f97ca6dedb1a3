// Package elements accesses elements of slices and arrays, and the contents of
// maps as a whole.
package elements

import (
	"maps"
	"slices"
	"sync"
)

type Row struct {
	mu  sync.Mutex
	a   []int
	arr [4]int
	m   map[string]int
}

func (r *Row) Set(i, v int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.a[i] = v
	r.arr[i] = v
	r.m["set"] = v
}

func (r *Row) Inc(i int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.a[i]++
	r.arr[i]++
	r.m["inc"]++
}

func (r *Row) Sort() {
	r.mu.Lock()
	defer r.mu.Unlock()
	slices.Sort(r.a)
	slices.Sort(r.arr[:])
	delete(r.m, "set")
	clear(r.m)
}

func (r *Row) Sum() (sum int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, v := range r.a {
		sum += v
	}
	for _, v := range r.arr {
		sum += v
	}
	return sum + len(r.m)
}

func (r *Row) Get(i int) int { return r.a[i] } // want `Row.a is read without r.mu`

func (r *Row) Fixed(i int) int { return r.arr[i] } // want `Row.arr is read without r.mu`

func (r *Row) Has(v int) bool { return slices.Contains(r.a, v) } // want `Row.a is read without r.mu`

func (r *Row) Len() int { return len(r.m) } // want `Row.m is read without r.mu`

func (r *Row) Map() map[string]int { return maps.Clone(r.m) } // want `Row.m is read without r.mu`

// Lists swaps its list: what was in it stays as it is.
type Lists struct {
	mu   sync.Mutex
	list []int
}

func (l *Lists) Add(v int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = append(slices.Clip(l.list), v)
}

func (l *Lists) Drop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = nil
}

func (l *Lists) First() int {
	l.mu.Lock()
	list := l.list
	l.mu.Unlock()
	return list[0] // ok
}

// Slots has elements that each have an owner.
type Slots struct {
	mu   sync.Mutex
	next int
	slot []int
}

func (s *Slots) Take() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.next++
	return s.next
}

func (s *Slots) Put(i, v int) { s.slot[i] = v } // ok: no lock anywhere

func (s *Slots) Of(i int) int { return s.slot[i] } // ok

// Grid copies its array as a whole.
type Grid struct {
	mu    sync.Mutex
	cells [4]int
}

func (g *Grid) Set(i, v int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.cells[i] = v
	g.cells[0] += v
	g.cells[1] -= v
}

func (g *Grid) Cells() [4]int {
	return g.cells // want `Grid.cells is read without g.mu`
}

func (g *Grid) Copy() [4]int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.cells // ok
}

func (g *Grid) Clear() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.cells = [4]int{}
}
