// Package testuseevict has an entry that is found, then removed and told of under the lock taken anew. IL2002.
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
	c.mu.RLock()
	_, ok := c.entries[key] // want IL2002 entry
	c.mu.RUnlock()
	if !ok {
		return
	}
	c.mu.Lock()
	delete(c.entries, key) // want IL2002 end
	c.mu.Unlock()
	c.removed(key)
}
