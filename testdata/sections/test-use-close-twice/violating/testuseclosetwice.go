// Package testuseclosetwice has a channel that is closed by any goroutine that finds it open. IL2002.
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
	given := s.given // want IL2002 entry
	s.mu.Unlock()
	if given {
		return
	}
	s.mu.Lock()
	s.given = true // want IL2002 end
	s.mu.Unlock()
	close(s.ch)
}

// Wait waits for it.
func (s *Signal) Wait() { <-s.ch }
