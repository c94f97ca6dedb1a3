package basic

import "sync"

type Cache struct {
	mu    sync.RWMutex
	stats sync.Mutex
	items map[string]int
	hits  int
	last  string
}

func (c *Cache) Get(k string) int {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if c.items[k] == 0 {
		c.items[k] = 1 // want `Cache.items is written under c.mu \(read\), which others may hold too: .* \(\*Cache\).Upgrade may read it`
	}
	c.count()
	return c.items[k]
}

func (c *Cache) count() {
	c.stats.Lock()
	c.hits++ // ok: another lock orders it
	c.stats.Unlock()
	c.note("get")
}

func (c *Cache) note(s string) {
	c.last = s // want `Cache.last is written under c.mu \(read\), .* \(\*Cache\).note may write it`
}

func (c *Cache) Len() int {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return len(c.items)
}

func (c *Cache) Set(k string, n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.items[k] = n // ok
	c.last = k
}

func (c *Cache) Upgrade(k string) {
	c.mu.RLock()
	n := c.items[k]
	c.mu.RUnlock()
	c.mu.Lock()
	c.items[k] = n + 1 // ok
	c.mu.Unlock()
}

// Grow holds the write side where it writes; on the other way it holds the read side, and writes nothing.
func (c *Cache) Grow(k string, grow bool) {
	c.mu.RLock()
	changed := false
	if grow {
		c.mu.RUnlock()
		c.mu.Lock()
		defer c.mu.Unlock()
		changed = true
	} else {
		defer c.mu.RUnlock()
	}
	if changed {
		c.items[k] = 1 // ok: a lead
	}
}

func (c *Cache) Closure(each func(func())) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	func() {
		delete(c.items, "") // want `Cache.items is written under c.mu \(read\)`
	}()
}

func New() *Cache {
	c := &Cache{items: map[string]int{}}
	c.mu.RLock()
	c.last = "new" // ok: nobody else has it
	c.mu.RUnlock()
	return c
}
