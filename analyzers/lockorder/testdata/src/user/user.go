// Package user: one of the locks belongs to another package.
package user

import (
	"sync"

	"dep"
)

type Cache struct {
	mu    sync.Mutex
	store *dep.Store
	n     int
}

func (c *Cache) Fill() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n = c.store.Get()
}

func (c *Cache) Flush() {
	c.store.Mu.Lock()
	defer c.store.Mu.Unlock()
	c.mu.Lock() // want `Store.Mu and Cache.mu are locked in both orders`
	c.store.N = c.n
	c.mu.Unlock()
}
