package generics

import "sync"

type Map[K comparable, V any] struct {
	mu sync.Mutex
	m  map[K]V
}

func (m *Map[K, V]) Put(k K, v V) { // want Put:"changes Map.m"
	m.mu.Lock()
	defer m.mu.Unlock()
	m.m[k] = v
}

func (m *Map[K, V]) All() int {
	m.mu.Lock()
	all := m.m
	m.mu.Unlock()
	n := 0
	for range all { // want `alias of Map.m is used after m.mu`
		n++
	}
	return n
}
