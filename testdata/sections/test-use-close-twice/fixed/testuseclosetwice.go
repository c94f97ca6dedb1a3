// Package testuseclosetwice has it mended: who finds it open marks it.
package testuseclosetwice

import "sync"

// Signal is given once.
type Signal struct {
	mu    sync.Mutex
	given bool
	ch    chan struct{}
}

// New makes a signal.
func New() *Signal { return &Signal{ch: make(chan struct{})} }

// Give gives it; once more is once too much for close.
func (s *Signal) Give() {
	s.mu.Lock()
	given := s.given
	s.given = true
	s.mu.Unlock()
	if !given {
		close(s.ch)
	}
}

// Wait waits for it.
func (s *Signal) Wait() { <-s.ch }
