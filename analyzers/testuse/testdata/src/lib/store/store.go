// Package store is one for several goroutines.
package store

import "sync"

type Store struct {
	mu     sync.Mutex
	items  map[string]*int
	closed bool
}

func (s *Store) Has(k string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.items[k]
	return ok
}

func (s *Store) Put(k string, v *int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.items[k] = v
}

func (s *Store) Ensure(k string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.items[k] == nil {
		s.items[k] = new(int)
	}
}

func (s *Store) Closed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed
}
