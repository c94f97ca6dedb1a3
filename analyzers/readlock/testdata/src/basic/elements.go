package basic

import (
	"sync"
	"sync/atomic"
)

type entry struct {
	mu    sync.Mutex
	hits  int
	marks int
	seen  atomic.Int64
	kind  string
}

// Table has entries, which its lock guards as well.
type Table struct {
	mu      sync.RWMutex
	entries map[string]*entry
	other   map[string]*entry
}

func (t *Table) Get(k string) string {
	t.mu.RLock()
	defer t.mu.RUnlock()
	e, ok := t.entries[k]
	if !ok {
		return ""
	}
	e.hits++      // want `entry.hits is written under t.mu \(read\), which others may hold too`
	e.seen.Add(1) // ok: atomic
	e.mu.Lock()
	e.marks++ // ok: a lock of its own
	e.mu.Unlock()
	return e.kind
}

func (t *Table) Evict(max int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for k, e := range t.entries {
		if e.hits < max {
			delete(t.entries, k)
		}
	}
}

// Take has the entry for itself when it writes it.
func (t *Table) Take(k string) *entry {
	t.mu.Lock()
	e := t.other[k]
	delete(t.other, k)
	t.mu.Unlock()
	t.mu.RLock()
	defer t.mu.RUnlock()
	if e != nil {
		e.kind = "taken" // ok: it was found under the write lock, before
	}
	return e
}
