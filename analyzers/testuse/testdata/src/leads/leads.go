// Package leads starts no goroutine: its users, or its tests, may.
package leads

import "sync"

type table struct {
	mu sync.Mutex
	m  map[string]int
}

func (t *table) add(key string, n int) {
	t.mu.Lock()
	_, ok := t.m[key]
	t.mu.Unlock()
	if !ok {
		t.mu.Lock()
		t.m[key] = n // a lead: who comes second replaces what the first has put
		t.mu.Unlock()
	}
}

func (t *table) addSafely(key string, n int) {
	t.mu.Lock()
	_, ok := t.m[key]
	t.mu.Unlock()
	if ok {
		return
	}
	t.mu.Lock()
	if _, ok := t.m[key]; !ok {
		t.m[key] = n // ok: asked again
	}
	t.mu.Unlock()
}

// Set is a set of names.
type Set struct {
	mu sync.Mutex
	m  map[string]int
}

func (s *Set) get(key string) (int, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n, ok := s.m[key]
	return n, ok
}

func (s *Set) put(key string, n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.m[key] = n
}

// Number returns the number of the name, and makes it n where there is none.
func (s *Set) Number(key string, n int) int {
	if old, ok := s.get(key); ok {
		return old
	}
	s.put(key, n) // a lead: the numbers may be the same
	return n
}
