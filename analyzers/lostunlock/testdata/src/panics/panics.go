// Package panics: panics with a lock held, recovered and not.
package panics

import (
	"fmt"
	"sync"
)

type Store[T any] struct {
	mu    sync.Mutex
	items map[string]T
}

func (s *Store[T]) Recovered(k string) (v T, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("store: %v", r)
		}
	}()
	s.mu.Lock()
	if s.items == nil {
		panic("no items") // want `a panic that is recovered leaves Store.mu locked`
	}
	v = s.items[k]
	s.mu.Unlock()
	return v, nil
}

func (s *Store[T]) Deferred(k string) (v T, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("store: %v", r)
		}
	}()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.items == nil {
		panic("no items") // ok: unlocked on the way
	}
	return s.items[k], nil
}

func (s *Store[T]) InRecover(k string) (v T, err error) {
	s.mu.Lock()
	defer func() {
		s.mu.Unlock()
		if r := recover(); r != nil {
			err = fmt.Errorf("store: %v", r)
		}
	}()
	if s.items == nil {
		panic("no items") // ok
	}
	return s.items[k], nil
}

func (s *Store[T]) Fatal(k string) T {
	s.mu.Lock()
	if s.items == nil {
		panic("no items") // ok: the program ends
	}
	v := s.items[k]
	s.mu.Unlock()
	return v
}
