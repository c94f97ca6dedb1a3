package generics

import "sync"

type Cache[K comparable, V any] struct {
	mu   sync.RWMutex
	m    map[K]V
	hits int
}

func New[K comparable, V any]() *Cache[K, V] {
	c := &Cache[K, V]{}
	c.m = map[K]V{} // ok
	return c
}

func (c *Cache[K, V]) Set(k K, v V) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.set(k, v)
}

func (c *Cache[K, V]) set(k K, v V) {
	c.m[k] = v // ok: called under the lock
	c.hits = 0
}

func (c *Cache[K, V]) Delete(k K) {
	c.mu.Lock()
	delete(c.m, k)
	c.hits--
	c.mu.Unlock()
}

func (c *Cache[K, V]) Get(k K) V {
	c.hits++      // want `Cache.hits is written without c.mu`
	return c.m[k] // want `Cache.m is read without c.mu`
}

func Use(c *Cache[string, int]) int {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.m["x"] // ok: an instance has the origin's fields
}
