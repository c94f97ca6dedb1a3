// Package leads starts no goroutine and exports nothing: its users, or its tests, may.
package leads

import "sync"

type purse struct {
	mu sync.Mutex
	n  int
}

func (p *purse) get() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.n
}

func (p *purse) set(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.n = n
}

func (p *purse) add(n int) { p.set(p.get() + n) } // a lead: by two callees

func (p *purse) double() {
	p.mu.Lock()
	n := p.n
	p.mu.Unlock()
	p.mu.Lock()
	p.n = 2 * n // a lead: in the function itself
	p.mu.Unlock()
}

func (p *purse) more(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.n += n // ok: in one critical section
}

// count is kept by one goroutine.
type count struct{ n int }

func (c *count) get() int  { return c.n }
func (c *count) set(n int) { c.n = n }
func (c *count) add(n int) { c.set(c.get() + n) } // ok: without a lock
