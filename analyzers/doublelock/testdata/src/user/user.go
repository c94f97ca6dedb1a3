// Package user: the second Lock is in another package.
package user

import "dep"

type Cache struct{ store *dep.Store }

func (c *Cache) Bad() int {
	c.store.Mu.Lock()
	defer c.store.Mu.Unlock()
	return c.store.Get() // want `Store.Mu is locked again .* leads to \(\*Store\).Get at dep.go:12`
}

func (c *Cache) Ignored() int {
	c.store.Mu.Lock()
	defer c.store.Mu.Unlock()
	//interlock:ignore IL3002 never called
	return c.store.Get()
}

func (c *Cache) Good() int { // ok
	c.store.Mu.Lock()
	c.store.Mu.Unlock()
	return c.store.Get()
}
