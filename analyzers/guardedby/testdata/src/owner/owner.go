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

// View starts its goroutine again when the last one has reported.
type View struct {
	mu    sync.Mutex
	index int
	seen  int
	stop  chan bool
}

func Watch() *View {
	v := &View{stop: make(chan bool)}
	run(func() { v.poll() })
	return v
}

func (v *View) poll() {
	for {
		done, failed := make(chan bool, 1), make(chan error, 1)
		go v.fetch(done, failed)
		select {
		case <-done:
		case <-failed:
			return
		}
	}
}

func (v *View) fetch(done chan<- bool, failed chan<- error) {
	next := v.index + 1 // ok: one fetch at a time
	v.mu.Lock()
	v.index = next
	v.mu.Unlock()
	done <- true
}

func (v *View) Index() int {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.index
}

func Hurry() *View {
	v := &View{stop: make(chan bool)}
	run(func() { v.hurry() })
	return v
}

func (v *View) hurry() {
	for {
		done := make(chan bool, 1)
		go v.note(done)
		select {
		case <-done:
		case <-v.stop:
		}
	}
}

func (v *View) note(done chan<- bool) {
	next := v.seen + 1 // want `View.seen is read without v.mu`
	v.mu.Lock()
	v.seen = next
	v.mu.Unlock()
	done <- true
}

func (v *View) Seen() int {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.seen
}
