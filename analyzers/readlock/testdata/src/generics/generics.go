package generics

import "sync"

type Set[T comparable] struct {
	sync.RWMutex
	m map[T]bool
}

func (s *Set[T]) Has(v T) bool {
	s.RLock()
	defer s.RUnlock()
	s.m[v] = s.m[v] // want `Set.m is written under s.RWMutex \(read\)`
	return s.m[v]
}
