// Package testusegetorcreate has a get-or-create that looks under the read lock only. IL2002.
package testusegetorcreate

import "sync"

// Counter is one count.
type Counter struct {
	mu sync.Mutex
	n  int
}

// Add counts.
func (c *Counter) Add(n int) {
	c.mu.Lock()
	c.n += n
	c.mu.Unlock()
}

// Counters are counters by name.
type Counters struct {
	mu     sync.RWMutex
	byName map[string]*Counter
}

// New makes an empty set.
func New() *Counters { return &Counters{byName: map[string]*Counter{}} }

// Get returns the counter of a name, and makes it if need be.
func (c *Counters) Get(name string) *Counter {
	c.mu.RLock()
	n, ok := c.byName[name] // want IL2002 entry
	c.mu.RUnlock()
	if ok {
		return n
	}
	n = &Counter{}
	c.mu.Lock()
	c.byName[name] = n // want IL2002 end
	c.mu.Unlock()
	return n
}
