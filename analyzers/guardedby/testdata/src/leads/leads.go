// Package leads: accesses without the guard that may well come before, or after, all others.
package leads

import "sync"

type Client struct {
	mu       sync.Mutex
	running  bool
	protocol int
}

func (c *Client) Start(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.running {
		c.running, c.protocol = true, n
	}
}

func (c *Client) Info() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.protocol + c.protocol
}

func (c *Client) Protocol() int {
	c.Start(1)
	return c.protocol // a lead: Start sets it, once
}

// Server has a handler that its first user makes.
type Server struct {
	mu      sync.Mutex
	handler func()
}

func NewServer() *Server {
	s := &Server{}
	s.ensure()
	return s
}

func (s *Server) ensure() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.handler == nil {
		s.handler = func() {}
	}
}

func (s *Server) Has() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.handler != nil
}

func (s *Server) Serve() {
	s.ensure()
	s.Handle()
}

func (s *Server) Handle() {
	s.handler() // a lead: it does not ask whether there is one
}

// Node is made as new before it is used again.
type Node struct {
	next             *Node
	size, refs, mode int
}

type Ring struct {
	mu   sync.Mutex
	head *Node
}

func (r *Ring) Put(n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.head.size += n
	r.head.refs++
}

func (r *Ring) Size() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.head.size + r.head.refs
}

func Recycle(n *Node) {
	n.next, n.size, n.refs, n.mode = nil, 0, 0, 0 // leads
}
