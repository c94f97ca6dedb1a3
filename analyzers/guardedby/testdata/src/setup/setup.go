// Package setup: writes that belong to the making of an object are no other
// side of what its users do.
package setup

import "sync"

type Client struct {
	mu   sync.Mutex
	host string
	name string
}

var clients = map[string]*Client{}

func New(host string) *Client {
	c := &Client{}
	clients[host] = c
	c.init(host)
	return c
}

func (c *Client) init(host string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.host = host
	c.name = host
}

func (c *Client) Rename(s string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.name = s
}

func (c *Client) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.host + c.name
}

func (c *Client) Host() string { return c.host } // ok: init alone writes it, for those who make a client
func (c *Client) Name() string { return c.name } // want `Client.name is read without c.mu`

// Sink has room for as much as Resize says, which makes it as new.
type Sink struct {
	mu            sync.Mutex
	in, out, errs chan int
}

func (s *Sink) Resize(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.in, s.out, s.errs = make(chan int, n), make(chan int, n), make(chan int, n)
}

func (s *Sink) Put(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.in <- n
	s.out <- n
}

func (s *Sink) Next() int { return <-s.in } // ok: a lead
