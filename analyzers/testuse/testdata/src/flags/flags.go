// Package flags has flags that stand for other state.
package flags

import "sync"

type Server struct {
	mu      sync.Mutex
	closing bool
	closed  bool
	conns   map[int]*int
	queue   []int
}

func (s *Server) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	s.conns = nil
	s.queue = nil
}

// Stop has two steps; the first keeps all others out.
func (s *Server) Stop(done chan bool) {
	s.mu.Lock()
	if s.closed || s.closing {
		s.mu.Unlock()
		return
	}
	s.closing = true
	s.mu.Unlock()
	<-done
	s.mu.Lock()
	s.closed = true // ok
	s.mu.Unlock()
}

// Halt lets the lock go on one way only.
func (s *Server) Halt(done chan bool, wait bool) {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return
	}
	if wait {
		s.mu.Unlock()
		<-done
		s.mu.Lock()
	}
	s.queue = append(s.queue, 0) // ok: that it is given up is not sure
	s.mu.Unlock()
}

func (s *Server) isClosed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed
}

func (s *Server) Register(id int, c *int) {
	s.mu.Lock()
	closed := s.closed
	s.mu.Unlock()
	if closed {
		return
	}
	s.mu.Lock()
	s.conns[id] = c // want `tests Server.closed at line \d+, and depending on the result Server.conns is added to .* \(\*Server\).Close may run in between, which changes both`
	s.mu.Unlock()
}

func (s *Server) Push(n int) {
	if s.isClosed() {
		return
	}
	s.mu.Lock()
	s.queue = append(s.queue, n) // want `is raised`
	s.mu.Unlock()
}

func (s *Server) PushRight(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	s.queue = append(s.queue, n) // ok
}

func (s *Server) PushAgain(n int) {
	if s.isClosed() {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.queue = append(s.queue, n) // ok: asked again
	}
}

type Feed struct {
	mu      sync.Mutex
	done    bool
	out     chan int
	senders sync.WaitGroup
	ended   bool
	last    chan int
}

func (f *Feed) Send(n int) bool {
	f.mu.Lock()
	if f.done {
		f.mu.Unlock()
		return false
	}
	f.mu.Unlock()
	f.out <- n // want `\(\*Feed\).Send tests Feed.done at line \d+, and depending on the result Feed.out is sent on at line \d+; f.mu is released in between. \(\*Feed\).Stop may run in between, which sets the one and closes the other`
	return true
}

func (f *Feed) TrySend(n int) {
	f.mu.Lock()
	done := f.done
	f.mu.Unlock()
	if !done {
		select {
		case f.out <- n: // want `Feed.out is sent on`
		default:
		}
	}
}

func (f *Feed) SendRight(n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.done {
		select {
		case f.out <- n: // ok: Stop waits
		default:
		}
	}
}

func (f *Feed) Stop() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.done {
		f.done = true
		close(f.out)
	}
}

func (f *Feed) SendCounted(n int) {
	f.mu.Lock()
	if f.ended {
		f.mu.Unlock()
		return
	}
	f.senders.Add(1)
	f.mu.Unlock()
	f.last <- n // ok: End waits for it
	f.senders.Done()
}

func (f *Feed) End() {
	f.mu.Lock()
	f.ended = true
	f.mu.Unlock()
	f.senders.Wait()
	close(f.last)
}

// Event is awaited by those who entered before it was set.
type Event struct {
	mu      sync.Mutex
	set     bool
	waiters []chan bool
}

func (e *Event) isSet() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.set
}

func (e *Event) Set() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.set = true
	for _, w := range e.waiters {
		close(w)
	}
	e.waiters = nil
}

func (e *Event) Wait() {
	if e.isSet() {
		return
	}
	w := make(chan bool)
	e.mu.Lock()
	e.waiters = append(e.waiters, w) // ok
	e.mu.Unlock()
	if e.isSet() {
		return
	}
	<-w
}

func (e *Event) WaitSometimes(ask bool) {
	if e.isSet() {
		return
	}
	w := make(chan bool)
	e.mu.Lock()
	e.waiters = append(e.waiters, w) // want `is raised`
	e.mu.Unlock()
	if ask && e.isSet() {
		return
	}
	<-w
}

func (e *Event) Enter(list []chan bool) {
	for _, w := range list {
		if e.isSet() {
			return
		}
		e.mu.Lock()
		e.waiters = append(e.waiters, w) // want `is raised`
		e.mu.Unlock()
	}
}
