// Package testuselazy has a field that is made when it is first used, without a lock. IL2002.
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
	pool *pool
}

// Do uses a connection.
func (c *Client) Do() {
	if c.pool == nil { // want IL2002 entry
		c.pool = &pool{} // want IL2002 end
	}
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
