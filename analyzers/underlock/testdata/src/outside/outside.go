// Package outside: waiting for something outside of the program, under a lock.
package outside

import (
	"net"
	"os"
	"sync"
	"time"
)

type Client struct {
	mu   sync.RWMutex
	conn net.Conn
	file *os.File
	n    int
}

func (c *Client) Send(b []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, err := c.conn.Write(b) // want `IL3005: net.Conn.Write is called under Client.mu`
	c.conn.Write(b)           // ok: told once
	return err
}

func (c *Client) SendRight(b []byte) error { // ok: without the lock
	c.mu.Lock()
	conn := c.conn
	c.mu.Unlock()
	_, err := conn.Write(b)
	return err
}

func (c *Client) Log(line string) {
	c.mu.RLock()
	c.file.WriteString(line) // want `os.File.WriteString is called under Client.mu`
	c.mu.RUnlock()
}

func (c *Client) Retry() {
	c.mu.Lock()
	for c.n > 0 {
		c.n--
		time.Sleep(time.Second) // want `time.Sleep is called under Client.mu`
	}
	c.mu.Unlock()
}

func (c *Client) Later() { // ok: another goroutine, without the lock
	c.mu.Lock()
	defer c.mu.Unlock()
	go func() { time.Sleep(time.Second) }()
}

func (c *Client) Fetch(b []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	func() {
		c.conn.Read(b) // missed: a literal is judged by the locks that it takes itself
	}()
	c.conn.Close() // ok: does not wait
}
