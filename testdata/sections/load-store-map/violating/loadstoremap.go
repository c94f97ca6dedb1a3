// Package loadstoremap has an element of a map, loaded and stored under one lock taken twice. IL2001.
package loadstoremap

import "sync"

// Stock is the number of pieces by article.
type Stock struct {
	mu     sync.RWMutex
	pieces map[string]int
}

// NewStock makes an empty stock.
func NewStock() *Stock { return &Stock{pieces: map[string]int{}} }

// Deliver adds boxes of twelve.
func (s *Stock) Deliver(article string, boxes int) {
	s.mu.RLock()
	n := s.pieces[article] // want IL2001 entry
	s.mu.RUnlock()
	n += 12 * boxes
	s.mu.Lock()
	s.pieces[article] = n // want IL2001 end
	s.mu.Unlock()
}

// Pieces reports how many there are.
func (s *Stock) Pieces(article string) int {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.pieces[article]
}
