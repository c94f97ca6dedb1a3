// Package callers: what some callers do with the mutex, and others without.
package callers

import "sync"

type Store struct {
	mu          sync.Mutex
	first, last int
}

func Open(size int) *Store {
	s := &Store{last: size}
	s.drop() // ok: nobody else has it
	go s.watch()
	return s
}

func (s *Store) watch() {
	for s.Size() > 0 {
		s.Add()
	}
}

func (s *Store) Add() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last++
	s.drop()
}

// Shrink has forgotten it.
func (s *Store) Shrink() { s.drop() }

func (s *Store) Size() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.last - s.first
}

func (s *Store) drop() {
	s.first++ // want `update of Store.first is not one step`
}
