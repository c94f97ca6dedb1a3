// Package generic has the patterns in generic types.
package generic

import "sync"

type Map[K comparable, V any] struct {
	mu sync.RWMutex
	m  map[K]*V
}

func (m *Map[K, V]) Get(k K) *V {
	m.mu.RLock()
	v := m.m[k]
	m.mu.RUnlock()
	if v == nil {
		v = new(V)
		m.mu.Lock()
		m.m[k] = v // want `is set`
		m.mu.Unlock()
	}
	return v
}

func (m *Map[K, V]) GetRight(k K) *V {
	m.mu.Lock()
	defer m.mu.Unlock()
	v := m.m[k]
	if v == nil {
		v = new(V)
		m.m[k] = v // ok
	}
	return v
}

type Stack[T any] struct {
	mu   sync.Mutex
	list []T
}

func (s *Stack[T]) Len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.list)
}

func (s *Stack[T]) Push(v T) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = append(s.list, v)
}

func (s *Stack[T]) pop() T {
	s.mu.Lock()
	defer s.mu.Unlock()
	v := s.list[len(s.list)-1]
	s.list = s.list[:len(s.list)-1]
	return v
}

func (s *Stack[T]) TryPop() (v T, ok bool) {
	if s.Len() == 0 {
		return v, false
	}
	return s.pop(), true // want `is taken from`
}
