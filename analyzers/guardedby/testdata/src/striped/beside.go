package striped

import "sync"

// slot has its lock in a list beside its own.
type slot struct{ n, hits int }

func (p *slot) set(v int) { p.n = v; p.hits++ }
func (p *slot) get() int  { p.hits++; return p.n }
func (p *slot) reset()    { p.n = 0; p.hits = 0 }

type Cache struct {
	locks [8]sync.Mutex
	slots [8]slot
}

func (c *Cache) Set(i, v int) {
	c.locks[i].Lock()
	defer c.locks[i].Unlock()
	c.slots[i].set(v)
}

func (c *Cache) Get(i int) int {
	c.locks[i].Lock()
	defer c.locks[i].Unlock()
	return c.slots[i].get()
}

func (c *Cache) Reset(i int) {
	c.locks[i].Lock()
	defer c.locks[i].Unlock()
	c.slots[i].reset()
}

func (c *Cache) Peek(i int) int {
	return c.slots[i].n // want `slot.n is read without`
}

func (c *Cache) PeekRight(i int) int {
	c.locks[i].Lock()
	defer c.locks[i].Unlock()
	return c.slots[i].n
}

// tally lies in an object with a lock, which another object's lock says nothing about.
type tally struct{ n int }

func (t *tally) add()      { t.n++ }
func (t *tally) drop()     { t.n-- }
func (t *tally) read() int { return t.n }

type Shop struct {
	mu    sync.Mutex
	tally tally
}

func (s *Shop) Add() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tally.add()
}

func (s *Shop) Drop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tally.drop()
}

// Stall has a tally that one goroutine uses.
type Stall struct{ tally tally }

func (s *Stall) Read() int { return s.tally.read() } // ok

// Rows are each guarded where they are used, and one has an index of its own.
type row struct{ n int }

func (r *row) inc() { r.n++ }
func (r *row) dec() { r.n-- }

type Rows struct {
	locks []sync.Mutex
	rows  []row
}

func (r *Rows) Inc(i int) {
	r.locks[i].Lock()
	defer r.locks[i].Unlock()
	r.rows[i].inc()
}

func (r *Rows) Dec(i int) {
	r.locks[i].Lock()
	defer r.locks[i].Unlock()
	r.rows[i].dec()
}

func NewRows(n int) *Rows {
	r := &Rows{locks: make([]sync.Mutex, n), rows: make([]row, n)}
	for i := range r.rows {
		r.rows[i].n = i // ok: nobody else has it
	}
	return r
}
