// Package testusegenericstack has a generic stack whose length is tested before another critical section pops. IL2002.
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
	if s.Len() == 0 { // want IL2002 entry
		return v, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	last := len(s.list) - 1
	v = s.list[last]
	s.list = s.list[:last] // want IL2002 end
	return v, true
}
