// Package striped: a function that takes the locks of all parts excludes those that take one.
package striped

import "sync"

type part struct {
	mu    sync.Mutex
	queue []int
}

type Conn struct {
	mu    sync.Mutex
	parts []part
	addr  string
	open  bool
}

func New(addr string) *Conn { return &Conn{addr: addr, parts: make([]part, 8)} }

func (c *Conn) lockParts() {
	for i := range c.parts {
		c.parts[i].mu.Lock()
	}
}

func (c *Conn) unlockParts() {
	for i := range c.parts {
		c.parts[i].mu.Unlock()
	}
}

func (c *Conn) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lockParts()
	defer c.unlockParts()
	c.addr = ""
	c.open = false
	for i := range c.parts {
		c.parts[i].queue = nil // ok: it holds the lock of each part
	}
}

func (c *Conn) Dial(addr string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lockParts()
	defer c.unlockParts()
	c.addr = addr
	c.open = true
}

func (c *Conn) Addr() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.addr
}

func (c *Conn) Send(n int) {
	p := &c.parts[n%len(c.parts)]
	p.mu.Lock()
	defer p.mu.Unlock()
	p.queue = append(p.queue, len(c.addr)) // ok: a writer of addr holds the lock of each part
}

func (c *Conn) Len(n int) int {
	p := &c.parts[n]
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.queue)
}

// No lock of a part, nor c.mu.
func (c *Conn) IsOpen() bool {
	return c.open // want `Conn.open is read without c.mu`
}
