// Package apart: structs of one type in different places.
package apart

import "sync"

type Info struct {
	host string
	port int
	name string
}

type Gateway struct {
	info *Info
	leaf *Info
}

type Server struct {
	mu   sync.Mutex
	info Info
	leaf Info
	gw   Gateway
}

func (s *Server) Change(host string, port int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.info.host = host
	s.info.name = host
	s.leaf.port = port
	s.gw.leaf = &s.leaf
}

func (s *Server) Address() (string, int, string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.info.host, s.leaf.port + s.leaf.port + s.leaf.port, s.info.name
}

func (s *Server) Gateway() string {
	return s.gw.info.host // ok: no pointer to Server.info is kept anywhere
}

func (s *Server) Leaf() int {
	return s.gw.leaf.port // want `Info.port is read without s.mu`
}

func (s *Server) Received(name string) {
	info := Info{name: name}
	s.process(&info)
}

func (s *Server) process(info *Info) {
	if info.name == "" { // ok: the one that was received
		return
	}
	defer func() { println(info.name) }() // ok
	s.mu.Lock()
	s.gw.info = info
	s.mu.Unlock()
}

func Lists(infos []*Info, byName map[string]*Info) {
	for _, i := range infos {
		println(i.host) // ok
		println(i.port) // want `Info.port is read without s.mu`
	}
	println(byName["x"].name) // ok
}

// A method of a struct that lies in another one twice, and is called for one.
type Hooks struct{ dial, read func() }

type Client struct {
	mu               sync.Mutex
	initial, current Hooks
	list             []func()
}

func NewClient() *Client {
	c := &Client{}
	c.initial.defaults()
	return c
}

func (c *Client) AddHook(f func()) {
	c.mu.Lock()
	c.list = append(c.list, f)
	c.mu.Unlock()
	c.initial.defaults()
	c.current.reset()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.current.dial = c.initial.dial
	c.current.read = c.initial.read
}

func (h *Hooks) defaults() {
	if h.dial == nil { // ok
		h.dial = func() {} // ok: never that of current, and nil only for NewClient
	}
}

func (h *Hooks) reset() {
	h.read = func() {} // want `Hooks.read is written without c.mu`
}

func (c *Client) Dial() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.current.dial()
	c.current.dial()
	c.current.dial()
	c.current.read()
}
