// Package callbacks: functions of users, called under a lock.
package callbacks

import (
	"context"
	"sync"
)

type Cache struct {
	mu      sync.Mutex
	m       map[string]int
	OnEvict func(key string)
	Hash    func(key string) int
	Logf    func(format string, args ...any)
	own     func()
	Silent  func()
	Cancel  context.CancelFunc
}

func (c *Cache) Get(k string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.m[k]
}

func (c *Cache) Delete(k string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.m, k)
	if c.OnEvict != nil {
		c.OnEvict(k) // want `callback Cache.OnEvict is called under Cache.mu: If the callback calls \(\*Cache\).Get`
	}
}

func (c *Cache) Put(k string) {
	c.mu.Lock()
	c.m[k] = c.Hash(k) // ok: asked for a value
	c.Logf("put %s", k)
	c.own()    // ok: not the user's
	c.Cancel() // ok: it calls nothing of the user's
	//interlock:ignore IL3005 documented
	c.Silent()
	c.mu.Unlock()
	c.OnEvict(k) // ok: without the lock
}
