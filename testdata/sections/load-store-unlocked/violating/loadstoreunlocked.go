// Package loadstoreunlocked has an update without the lock of its type. IL2001.
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
	if m.byKind == nil {
		m.byKind = map[string]int{}
	}
	m.byKind[kind] += n
	m.kinds = len(m.byKind)
	m.mu.Unlock()
	sum := m.total // want IL2001 entry
	sum += n
	m.total = sum // want IL2001 end
}

// Total tells the sum.
func (m *Meter) Total() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.total
}
