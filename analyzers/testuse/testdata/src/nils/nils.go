// Package nils has tests of pointers.
package nils

import (
	"log"
	"os"
	"sync"
)

type conn struct{ open bool }

func (c *conn) close() { c.open = false }

type Client struct {
	mu   sync.Mutex
	conn *conn
	log  *conn

	logger *log.Logger
}

func (c *Client) Dial() {
	c.mu.Lock()
	absent := c.conn == nil
	c.mu.Unlock()
	if absent {
		n := &conn{}
		c.mu.Lock()
		c.conn = n // want `is set`
		c.mu.Unlock()
	}
}

// Refresh makes a new one in any case.
func (c *Client) Refresh() *conn {
	n := &conn{}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.conn = n
	return n
}

func (c *Client) Get() *conn {
	c.mu.Lock()
	n := c.conn
	c.mu.Unlock()
	if n == nil {
		return c.Refresh() // ok: others do so at any time
	}
	return n
}

func (c *Client) IsOpen() bool {
	c.mu.Lock()
	present := c.conn != nil
	c.mu.Unlock()
	if !present {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.conn.open // want `is followed`
}

func (c *Client) Close() {
	c.mu.Lock()
	n := c.conn
	c.mu.Unlock()
	if n != nil {
		n.close()
		c.mu.Lock()
		c.conn = nil // want `is cleared`
		c.mu.Unlock()
	}
}

func (c *Client) Reset() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.conn != nil {
		c.conn.close()
		c.conn = nil // ok
	}
}

// Lazy is meant for several goroutines, as its lock says, which guards
// something else.
func (c *Client) Lazy() *conn {
	if c.log == nil {
		c.log = &conn{} // want `no lock holds the two together`
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.log
}

func (c *Client) Logger() *log.Logger {
	c.mu.Lock()
	l := c.logger
	c.mu.Unlock()
	if l == nil {
		l = log.New(os.Stderr, "", 0)
		c.mu.Lock()
		c.logger = l // ok: one logger is as good as the other
		c.mu.Unlock()
	}
	return l
}

func (c *Client) Loaded() *conn {
	c.mu.Lock()
	n := c.conn
	c.mu.Unlock()
	if n == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return n // ok: what was found is used
}
