// Package dep is imported by user.
package dep

import "sync"

type Store struct {
	Mu sync.Mutex
	N  int
}

func (s *Store) Get() int {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	return s.N
}
