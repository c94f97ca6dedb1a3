// Package testuselazy has it mended: a sync.Once.
package testuselazy

import "sync"

type pool struct {
	mu    sync.Mutex
	conns int
}

// Client makes its pool when it first needs one.
type Client struct {
	mu   sync.Mutex
	used int
	once sync.Once
	pool *pool
}

// Do uses a connection.
func (c *Client) Do() {
	c.once.Do(func() { c.pool = &pool{} })
	p := c.pool
	p.mu.Lock()
	p.conns++
	p.mu.Unlock()
	c.mu.Lock()
	c.used++
	c.mu.Unlock()
}

// Lost reports how many uses the pool knows nothing of.
func (c *Client) Lost() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.used - c.pool.conns
}
