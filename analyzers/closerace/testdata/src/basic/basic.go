// Package basic: channels closed twice, and sent on while they are closed.
package basic

import "sync"

type Server struct {
	done, guarded, once chan struct{}
	mu                  sync.Mutex
	only                sync.Once
}

func (s *Server) Stop() {
	select {
	case <-s.done:
	default:
		close(s.done) // want `Server.done may be closed twice: Two calls of \(\*Server\).Stop`
	}
}

func (s *Server) Guarded() { // ok: under a lock
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-s.guarded:
	default:
		close(s.guarded)
	}
}

func (s *Server) Once() { s.only.Do(func() { close(s.once) }) } // ok

func (s *Server) stop() { // ok: not for everybody
	select {
	case <-s.once:
	default:
		close(s.once)
	}
}

type Queue[T any] struct {
	mu          sync.Mutex
	items, safe chan T
	stop        chan struct{}
}

func (q *Queue[T]) Send(v T) { q.items <- v } // want `Queue.items may be sent on when it is closed: \(\*Queue\).Send may run while \(\*Queue\).Close`

func (q *Queue[T]) Close() { close(q.items) }

func (q *Queue[T]) SendSafe(v T) { // ok: nobody closes q.safe
	select {
	case q.safe <- v:
	case <-q.stop:
	}
}

type Asked struct {
	items  chan int
	closed bool
}

func (a *Asked) Send(v int) { // ok: it has a protocol, right or wrong
	if !a.closed {
		a.items <- v
	}
}

func (a *Asked) Close() {
	a.closed = true
	close(a.items)
}

func Produce() <-chan int { // ok: its own channel
	c := make(chan int)
	go func() {
		c <- 1
		close(c)
	}()
	return c
}

// Phases has no lock: who uses it adds first and closes last.
type Phases struct{ samples chan int }

func (p *Phases) Add(n int) { p.samples <- n } // ok

func (p *Phases) Close() { close(p.samples) }

// The poll is in a callee.
type Asker struct {
	done chan struct{}
	n    int
}

func (a *Asker) isClosed() bool {
	select {
	case <-a.done:
		return true
	default:
		return false
	}
}

func (a *Asker) Close() {
	if a.isClosed() {
		return
	}
	close(a.done) // want `Asker.done may be closed twice`
}

func (a *Asker) Count() int {
	if a.isClosed() {
		return 0
	}
	return a.n
}
