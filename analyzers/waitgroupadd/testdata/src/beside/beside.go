// Package beside has Add and Wait in two methods.
package beside

import "sync"

// Jobs has nothing between the two.
type Jobs struct {
	mu sync.Mutex
	wg sync.WaitGroup
	n  int
}

func (j *Jobs) Go(f func()) {
	j.mu.Lock()
	j.n++
	j.mu.Unlock()
	j.wg.Add(1) // want `Jobs.wg may be raised from zero while Wait is called`
	go func() {
		defer j.wg.Done()
		f()
	}()
}

func (j *Jobs) Close() { j.wg.Wait() }

// Counted counts the requests in flight.
type Counted struct {
	mu   sync.RWMutex
	wg   sync.WaitGroup
	stop chan bool
}

func (c *Counted) Handle(f func()) {
	c.wg.Add(1) // want `Counted.wg may be raised from zero while Wait is called`
	defer c.wg.Done()
	f()
}

func (c *Counted) Stop() {
	close(c.stop)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wg.Wait()
}

// Guarded asks under the lock whether it may still count.
type Guarded struct {
	mu     sync.Mutex
	wg     sync.WaitGroup
	closed bool
}

func (g *Guarded) Go(f func()) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return false
	}
	g.wg.Add(1) // ok
	go func() {
		defer g.wg.Done()
		f()
	}()
	return true
}

func (g *Guarded) Close() {
	g.mu.Lock()
	g.closed = true
	g.mu.Unlock()
	g.wg.Wait()
}

// Group is a WaitGroup to its callers: Wait has the same rule.
type Group struct {
	mu sync.Mutex
	wg sync.WaitGroup
}

func (g *Group) Go(f func()) {
	g.wg.Add(1) // ok
	go func() {
		defer g.wg.Done()
		f()
	}()
}

func (g *Group) Wait() { g.wg.Wait() }

// Server is started before it is stopped.
type Server struct {
	mu sync.Mutex
	wg sync.WaitGroup
}

func (s *Server) Start() {
	s.wg.Add(1) // ok
	go s.wg.Done()
}

func (s *Server) Close() { s.wg.Wait() }

// Script has no lock: one goroutine uses it.
type Script struct{ wg sync.WaitGroup }

func (s *Script) Go(f func()) {
	s.wg.Add(1) // ok
	go func() {
		defer s.wg.Done()
		f()
	}()
}

func (s *Script) Close() { s.wg.Wait() }

// Held counts itself for as long as it is open.
type Held struct {
	mu sync.Mutex
	wg sync.WaitGroup
}

func (h *Held) Go(f func()) {
	h.wg.Add(1) // ok: raised from one
	go func() {
		defer h.wg.Done()
		f()
	}()
}

func (h *Held) Close() {
	h.wg.Add(1)
	h.finish()
	h.wg.Wait()
}

func (h *Held) finish() { h.wg.Done() }
