// Package setup: what makes an object may write it plainly, and who holds
// the lock that the callers of the other side hold may read it so.
package setup

import (
	"sync"
	"sync/atomic"
)

type Client struct {
	mu    sync.Mutex
	limit int32
	size  int32
	first uint64
	last  uint64
}

var clients = map[int]*Client{}

func New() *Client {
	c := &Client{}
	clients[len(clients)] = c
	c.init()
	return c
}

func (c *Client) init() {
	c.mu.Lock()
	c.limit = 10 // ok: its callers make the client
	c.mu.Unlock()
}

func (c *Client) Reset() {
	c.size = 0 // want `Client.size is written plainly`
}

func Reload(n int32) {
	for _, c := range clients {
		atomic.StoreInt32(&c.limit, n)
		atomic.AddInt32(&c.size, n)
	}
}

// Lock is held on entry.
func (c *Client) RebuildLocked() {
	atomic.StoreUint64(&c.first, 1)
}

func (c *Client) First() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.first // ok: whoever calls RebuildLocked holds the lock
}

func (c *Client) Grow() { atomic.AddUint64(&c.last, 1) }

func (c *Client) Last() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.last // want `Client.last is read plainly`
}
