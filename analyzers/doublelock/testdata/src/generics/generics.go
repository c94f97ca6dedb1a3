// Package generics: a second Lock in methods of generic types.
package generics

import "sync"

type Set[T comparable] struct {
	sync.Mutex
	m map[T]bool
}

func (s *Set[T]) Has(v T) bool {
	s.Lock()
	defer s.Unlock()
	return s.m[v]
}

func (s *Set[T]) Add(v T) {
	s.Lock()
	defer s.Unlock()
	if !s.Has(v) { // want `Set.Mutex is locked again`
		s.m[v] = true
	}
}

func Use(s *Set[int]) bool { // ok
	s.Lock()
	n := len(s.m)
	s.Unlock()
	return n > 0 && s.Has(n)
}
