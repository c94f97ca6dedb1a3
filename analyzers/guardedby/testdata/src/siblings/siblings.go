// Package siblings: fields that are mended together are one finding, but
// each place has its diagnostic.
package siblings

import "sync"

type perms struct{ deny []int }

type Conn struct {
	mu       sync.Mutex
	in, out  int
	sessions map[int]int
	lazy     map[int]int
	perms    *perms
}

func (c *Conn) Add(in, out int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.in += in
	c.out += out
	c.sessions[in] = out
	c.lazy[in] = out
	c.lazy[out] = in
	delete(c.lazy, 0)
	c.perms = &perms{}
	c.perms.deny = nil
}

func (c *Conn) Forget() {
	c.sessions = make(map[int]int) // ok: nothing else assigns it
	if c.lazy == nil {             // its write is told
		c.lazy = make(map[int]int) // want `Conn.lazy is written without c.mu`
	}
}

func (c *Conn) Sum() (int, int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.in + len(c.sessions), c.out + len(c.perms.deny) + len(c.lazy)
}

func (c *Conn) String() string {
	println(c.in)              // want `Conn.in is read without c.mu`
	println(c.out)             // want `Conn.out is read without c.mu`
	println(len(c.perms.deny)) // want `Conn.perms is read without c.mu` `perms.deny is read without c.mu`
	return ""
}

// Cache: one access holds another lock, one none. That is one finding.
type Cache struct {
	mu, reload sync.Mutex
	opts       *int
}

func (c *Cache) Set(n *int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.opts = n
}

func (c *Cache) Get() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return *c.opts + *c.opts + *c.opts
}

func (c *Cache) Peek() int { return *c.opts } // want `Cache.opts is read without c.mu`

func (c *Cache) Reload() int {
	c.reload.Lock()
	defer c.reload.Unlock()
	return *c.opts // want `Cache.opts is read without c.mu`
}
