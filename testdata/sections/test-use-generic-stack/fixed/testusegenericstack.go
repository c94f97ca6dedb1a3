// Package testusegenericstack has it mended: one critical section.
package testusegenericstack

import "sync"

// Stack is the last in, first out.
type Stack[T any] struct {
	mu   sync.Mutex
	list []T
}

// Push puts v on top.
func (s *Stack[T]) Push(v T) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = append(s.list, v)
}

// Len reports how many there are.
func (s *Stack[T]) Len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.list)
}

// TryPop takes the top, if there is one.
func (s *Stack[T]) TryPop() (v T, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	last := len(s.list) - 1
	if last < 0 {
		return v, false
	}
	v = s.list[last]
	s.list = s.list[:last]
	return v, true
}
