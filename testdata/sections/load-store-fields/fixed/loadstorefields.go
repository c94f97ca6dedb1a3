// Package loadstorefields has it mended: one critical section.
package loadstorefields

import "sync"

// Span is a range that only grows.
type Span struct {
	mu     sync.Mutex
	lo, hi int
}

// Widen adds n on both sides.
func (s *Span) Widen(n int) {
	s.mu.Lock()
	lo, hi := s.lo, s.hi
	s.lo, s.hi = lo-n, hi+n
	s.mu.Unlock()
}

// Width reports how wide it is.
func (s *Span) Width() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.hi - s.lo
}
