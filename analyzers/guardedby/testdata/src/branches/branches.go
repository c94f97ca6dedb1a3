// Package branches releases locks on conditions that are tested twice.
package branches

import "sync"

type C struct {
	mu sync.Mutex
	n  int
	m  map[int]int
	f  func(int) int
}

func (c *C) Set(v int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n = v
}

func (c *C) Add(v int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n += v
}

func (c *C) Sub(v int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n -= v
}

func (c *C) Value() int { return c.n } // want `C.n is read without c.mu`

// Get returns without the lock, whichever way it goes.
func (c *C) Get(k int) int {
	c.mu.Lock()
	v, ok := c.m[k]
	if c.f == nil || ok {
		c.mu.Unlock()
	}
	if c.f != nil && !ok {
		c.mu.Unlock()
		v = c.f(k)
	}
	return v
}

// D takes its lock on a condition, and releases it on the same.
type D struct {
	mu sync.Mutex
	n  int
}

func (d *D) Set(v int, alone bool) {
	locked := false
	if !alone {
		d.mu.Lock()
		locked = true
	}
	d.n = v
	if locked {
		d.mu.Unlock()
	}
}

func (d *D) Add(v int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.n += v
}

func (d *D) Sub(v int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.n -= v
}

func (d *D) Value() int { return d.n } // want `D.n is read without d.mu`

// E may return with its lock held: who calls it has it then.
type E struct {
	mu sync.Mutex
	n  int
}

func (e *E) Begin(wait bool) {
	e.mu.Lock()
	if !wait {
		e.mu.Unlock()
	}
}

func (e *E) Set(v int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.n = v
}

func (e *E) Add(v int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.n += v
}

func (e *E) Value() int { return e.n } // ok

// F asks a condition that it changes in between.
type F struct {
	mu   sync.Mutex
	busy bool
	n    int
}

func (f *F) Begin() {
	f.mu.Lock()
	if f.busy {
		f.mu.Unlock()
	}
	f.busy = f.n > 0
	if !f.busy {
		f.mu.Unlock()
	}
}

func (f *F) Set(v int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.n = v
}

func (f *F) Add(v int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.n += v
}

func (f *F) Value() int { return f.n } // ok: who knows
