// Package intests has tests that declare atomic sections over helpers of their own.
package intests

import "sync"

type Set struct {
	mu sync.Mutex
	m  map[int]bool
}

func (s *Set) Has(k int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.m[k]
}
