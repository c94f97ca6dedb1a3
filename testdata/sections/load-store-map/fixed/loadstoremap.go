// Package loadstoremap has it mended: one critical section.
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
	s.mu.Lock()
	n := s.pieces[article]
	n += 12 * boxes
	s.pieces[article] = n
	s.mu.Unlock()
}

// Pieces reports how many there are.
func (s *Stock) Pieces(article string) int {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.pieces[article]
}
