// Package testusegetorcreate has it mended: it looks again under the second lock.
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
	n, ok := c.byName[name]
	c.mu.RUnlock()
	if ok {
		return n
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if n, ok := c.byName[name]; ok {
		return n
	}
	n = &Counter{}
	c.byName[name] = n
	return n
}
