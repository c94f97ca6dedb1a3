// Package readers: read locks of two classes.
package readers

import "sync"

type A struct {
	mu sync.RWMutex
	n  int
}

type B struct {
	mu sync.RWMutex
	n  int
}

func AB(a *A, b *B) int { // ok: nobody writes
	a.mu.RLock()
	defer a.mu.RUnlock()
	b.mu.RLock()
	defer b.mu.RUnlock()
	return a.n + b.n
}

func BA(a *A, b *B) int { // ok
	b.mu.RLock()
	defer b.mu.RUnlock()
	a.mu.RLock()
	defer a.mu.RUnlock()
	return a.n + b.n
}

type C struct {
	mu sync.RWMutex
	n  int
}

type D struct {
	mu sync.RWMutex
	n  int
}

func CD(c *C, d *D) int {
	c.mu.RLock()
	defer c.mu.RUnlock()
	d.mu.RLock() // want `C.mu and D.mu are locked in both orders.* Of D.mu and C.mu only the read side`
	defer d.mu.RUnlock()
	return c.n + d.n
}

func DC(c *C, d *D) int {
	d.mu.RLock()
	defer d.mu.RUnlock()
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.n + d.n
}

func (c *C) Set() {
	c.mu.Lock()
	c.n++
	c.mu.Unlock()
}

func (d *D) Set() {
	d.mu.Lock()
	d.n++
	d.mu.Unlock()
}
