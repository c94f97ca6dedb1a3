// Package cross has a WaitGroup that another package raises.
package cross

import "sync"

type Server struct {
	Wg sync.WaitGroup
	Ok sync.WaitGroup
}

// Go runs f in a goroutine.
func Go(f func()) { go f() }

// Counted runs f in a goroutine that it counts.
func (s *Server) Counted(f func()) {
	s.Ok.Add(1)
	go func() {
		defer s.Ok.Done()
		f()
	}()
}
