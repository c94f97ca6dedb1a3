// Package closures takes and changes guarded maps in function literals.
package closures

import "sync"

type Cache struct {
	mu    sync.Mutex
	items map[string]int
	fine  map[string]int
}

func (c *Cache) with(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f()
}

func (c *Cache) Put(k string) { // want Put:"changes Cache.items; changes Cache.fine"
	c.mu.Lock()
	defer c.mu.Unlock()
	c.items[k]++
	c.fine[k]++
}

func (c *Cache) Sum() (n int) {
	take := func() map[string]int {
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.items // want `alias of Cache.items is returned from under c.mu`
	}
	for _, v := range take() {
		n += v
	}
	return n
}

func (c *Cache) Right() (n int) {
	c.with(func() {
		for _, v := range c.fine { // ok: under the lock
			n += v
		}
	})
	return n
}
