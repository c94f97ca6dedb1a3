// Package testuseevict has it mended: one critical section.
package testuseevict

import "sync"

// Cache tells of what it removes.
type Cache struct {
	mu      sync.RWMutex
	entries map[string]int
	removed func(key string)
}

// New makes an empty cache.
func New(removed func(key string)) *Cache {
	return &Cache{entries: map[string]int{}, removed: removed}
}

// Set stores a value.
func (c *Cache) Set(key string, v int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.entries[key] = v
}

// Remove removes a value, if there is one, and tells.
func (c *Cache) Remove(key string) {
	c.mu.Lock()
	_, ok := c.entries[key]
	delete(c.entries, key)
	c.mu.Unlock()
	if ok {
		c.removed(key)
	}
}
