// Package testusepool has it mended: the place is taken before the connection is made.
package testusepool

import "sync"

// Conn is a connection.
type Conn struct{ n int }

// Pool has at most max connections.
type Pool struct {
	mu        sync.Mutex
	idle      []*Conn
	open, max int
}

// New makes a pool.
func New(max int) *Pool { return &Pool{max: max} }

// Get returns an idle connection or a new one; nil if there are too many.
func (p *Pool) Get() *Conn {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.idle); n > 0 {
		c := p.idle[n-1]
		p.idle = p.idle[:n-1]
		return c
	}
	if p.open >= p.max {
		return nil
	}
	p.open++
	return &Conn{}
}

// Put returns a connection back.
func (p *Pool) Put(c *Conn) {
	p.mu.Lock()
	p.idle = append(p.idle, c)
	p.mu.Unlock()
}

// Open reports how many connections there are.
func (p *Pool) Open() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.open
}
