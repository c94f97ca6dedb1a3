// Package inner guards objects of another package, of its own, and of the
// standard library.
package inner

import (
	"container/list"
	"innerdep"
	"sync"
)

type Cache struct {
	mu   sync.Mutex
	lru  *innerdep.LRU
	safe innerdep.Safe
	todo *list.List
	own  bag
}

type bag struct{ n int }

func (b *bag) Add(n int) { b.n += n }
func (b *bag) N() int    { return b.n }

func New() *Cache {
	c := &Cache{lru: innerdep.New("cache"), todo: list.New()}
	c.lru.Put(1, 1) // ok: not shared yet
	return c
}

func (c *Cache) Resize(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lru.Resize(n)
	c.safe.Add(n)
	c.todo.PushBack(n)
	c.own.Add(n)
}

func (c *Cache) Put(k, v int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lru.Put(k, v)
	c.safe.Add(v)
	c.todo.PushFront(v)
	c.own.Add(v)
}

func (c *Cache) Get(k int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lru.Get(k) + c.safe.N() + c.todo.Len() + c.own.N()
}

func (c *Cache) Both(k int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lru.Get(k) + c.lru.Get(k+1)
}

func (c *Cache) Cap() int { return c.lru.Cap() } // want `Cache.lru is read without c.mu`

func (c *Cache) CapUnder() int { return c.lru.CapUnder(&c.mu) } // ok: it takes the lock that it is passed

func (c *Cache) Name() string { return c.lru.Name() } // ok: the name does not change

func (c *Cache) Safe(n int) { c.safe.Add(n) } // ok: it has a lock of its own

func (c *Cache) Todo() int { return c.todo.Len() } // want `Cache.todo is read without c.mu`

func (c *Cache) Own() int { return c.own.N() } // want `Cache.own is read without c.mu`
