// Package loadstorefields has two fields that are one value, loaded together and stored together later. IL2001.
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
	lo, hi := s.lo, s.hi // want IL2001 entry
	s.mu.Unlock()
	lo, hi = lo-n, hi+n
	s.mu.Lock()
	s.lo, s.hi = lo, hi // want IL2001 end
	s.mu.Unlock()
}

// Width reports how wide it is.
func (s *Span) Width() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.hi - s.lo
}
