// Package loadstoregeneric has it mended: one critical section.
package loadstoregeneric

import "sync"

// Cell holds a value.
type Cell[T any] struct {
	mu sync.Mutex
	v  T
}

// Update replaces the value by what f makes of it. f must not use the cell.
func (c *Cell[T]) Update(f func(T) T) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.v = f(c.v)
}

// Get returns the value.
func (c *Cell[T]) Get() T {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.v
}
