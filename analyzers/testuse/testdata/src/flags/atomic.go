package flags

import (
	"sync"
	"sync/atomic"
)

// Pool asks an atomic flag before it sends.
type Pool struct {
	jobs chan func()
	quit atomic.Bool
}

func (p *Pool) Submit(f func()) bool {
	if p.quit.Load() {
		return false
	}
	p.jobs <- f // want `\(\*Pool\).Submit tests Pool.quit at line \d+, and depending on the result Pool.jobs is sent on`
	return true
}

func (p *Pool) SubmitSafely(f func()) (ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	if p.quit.Load() {
		return false
	}
	p.jobs <- f // ok: it recovers
	return true
}

func (p *Pool) Stop() {
	if !p.quit.Swap(true) {
		close(p.jobs)
	}
}

// Patient waits for those that are in between.
type Patient struct {
	jobs   chan int
	quit   atomic.Bool
	inside atomic.Int32
}

func (p *Patient) Submit(n int) {
	p.inside.Add(1)
	defer p.inside.Add(-1)
	if p.quit.Load() {
		return
	}
	p.jobs <- n // ok
}

func (p *Patient) Stop() {
	p.quit.Store(true)
	for p.inside.Load() > 0 {
	}
	close(p.jobs)
}

// Locked holds a lock around the test and the send.
type Locked struct {
	mu   sync.RWMutex
	jobs chan int
	quit atomic.Bool
}

func (l *Locked) Submit(n int) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	if !l.quit.Load() {
		l.jobs <- n // ok
	}
}

func (l *Locked) Stop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.quit.Swap(true) {
		close(l.jobs)
	}
}

// Silent has a flag, and leaves its channel open.
type Silent struct {
	jobs chan int
	quit atomic.Bool
}

func (s *Silent) Submit(n int) {
	if !s.quit.Load() {
		s.jobs <- n // ok: nobody closes it
	}
}

func (s *Silent) Stop() { s.quit.Store(true) }
