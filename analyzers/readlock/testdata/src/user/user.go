// Package user locks by the methods of another package, and in closures.
package user

import "dep"

type Cache struct {
	mu    dep.Guard
	items map[string]int
	last  string
}

func (c *Cache) Get(k string) int {
	c.mu.REnter()
	defer c.mu.RLeave()
	c.items[k]++ // want `Cache.items is written under c.mu.mu \(read\)`
	func() {
		c.last = k // want `Cache.last is written under c.mu.mu \(read\)`
	}()
	return c.items[k]
}

func (c *Cache) Set(k string, n int) {
	c.mu.Enter()
	defer c.mu.Leave()
	c.items[k] = n          // ok
	func() { c.last = k }() // ok
}
