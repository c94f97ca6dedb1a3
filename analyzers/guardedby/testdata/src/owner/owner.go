// Package owner: a goroutine for each object, which alone writes a field and
// locks for its readers, reads it as it likes.
package owner

import "sync"

type Conn struct {
	mu   sync.Mutex
	size int
	kind int
}

func Accept(kind int) *Conn {
	c := &Conn{kind: kind}
	run(func() { c.loop() })
	return c
}

func Dial() *Conn {
	c := &Conn{}
	run(func() { c.loop() })
	return c
}

func run(f func()) { go f() }

func (c *Conn) loop() {
	for {
		buf := make([]byte, c.size) // ok: the loop alone writes it
		c.mu.Lock()
		c.size = 2 * len(buf)
		c.mu.Unlock()
		c.parse()
	}
}

func (c *Conn) parse() {
	if c.size > 1<<10 { // ok
		c.mu.Lock()
		c.size = 0
		c.mu.Unlock()
	}
}

func (c *Conn) Size() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.size
}

// Pair has two goroutines for one object.
type Pair struct {
	mu sync.Mutex
	n  int
}

func Start() *Pair {
	p := &Pair{}
	run(func() { p.step() })
	run(func() { p.step() })
	return p
}

func (p *Pair) step() {
	if p.n > 3 { // want `Pair.n is read without p.mu`
		return
	}
	p.mu.Lock()
	p.n++
	p.mu.Unlock()
}

func (p *Pair) N() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.n
}
