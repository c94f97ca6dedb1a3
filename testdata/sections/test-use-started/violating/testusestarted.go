// Package testusestarted has a flag that is tested and set by two atomic operations. IL2002.
package testusestarted

import "sync/atomic"

// Service starts once, by whoever needs it first.
type Service struct {
	started atomic.Bool
	starts  chan struct{}
}

// New makes a service that can be started at most n times before it blocks.
func New(n int) *Service { return &Service{starts: make(chan struct{}, n)} }

// Start starts it, if nobody has.
func (s *Service) Start() {
	if !s.started.Load() { // want IL2002 entry
		s.started.Store(true) // want IL2002 end
		s.starts <- struct{}{}
	}
}

// Starts reports how often it was started.
func (s *Service) Starts() int { return len(s.starts) }
