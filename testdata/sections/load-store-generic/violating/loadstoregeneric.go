// Package loadstoregeneric has a generic cell whose update is two steps. IL2001.
package loadstoregeneric

import "sync"

// Cell holds a value.
type Cell[T any] struct {
	mu sync.Mutex
	v  T
}

// Update replaces the value by what f makes of it.
func (c *Cell[T]) Update(f func(T) T) {
	c.mu.Lock()
	old := c.v // want IL2001 entry
	c.mu.Unlock()
	v := f(old)
	c.mu.Lock()
	c.v = v // want IL2001 end
	c.mu.Unlock()
}

// Get returns the value.
func (c *Cell[T]) Get() T {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.v
}
