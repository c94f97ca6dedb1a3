// Package handsoff: helpers that release the lock of their caller around a function that they are handed.
package handsoff

import "sync"

type S struct {
	mu sync.Mutex
	n  int
}

func (s *S) each(f func()) {
	s.mu.Unlock()
	f()
	s.mu.Lock()
}

func (s *S) locked(f func()) {
	s.mu.Lock()
	f()
	s.mu.Unlock()
}

func (s *S) add() { s.mu.Lock(); s.n++; s.mu.Unlock() }

func (s *S) Run() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.each(s.add) // ok
	s.each(func() { s.add() })
}

func (s *S) Twice() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.locked(func() { s.n++ }) // want `s.mu`
}

func (s *S) step(release func()) {
	s.n++
	release()
	s.mu.Lock()
	s.n--
	s.mu.Unlock()
}

func (s *S) Step() {
	s.mu.Lock()
	s.step(s.mu.Unlock) // ok
}

func (s *S) Stuck() {
	s.mu.Lock()
	s.step(func() {}) // want `s.mu`
}
