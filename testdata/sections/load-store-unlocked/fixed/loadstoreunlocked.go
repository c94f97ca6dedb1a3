// Package loadstoreunlocked has it mended: the lock is held.
package loadstoreunlocked

import "sync"

// Meter counts by kind, and in all.
type Meter struct {
	mu     sync.Mutex
	byKind map[string]int
	kinds  int
	total  int
}

// Add counts n of a kind.
func (m *Meter) Add(kind string, n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.byKind == nil {
		m.byKind = map[string]int{}
	}
	m.byKind[kind] += n
	m.kinds = len(m.byKind)
	sum := m.total
	sum += n
	m.total = sum
}

// Total tells the sum.
func (m *Meter) Total() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.total
}
