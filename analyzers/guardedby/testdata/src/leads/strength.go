package leads

import "sync"

// App serves what is registered before.
type App struct {
	mu     sync.Mutex
	stale  bool
	config bool
	routes []string
}

func (a *App) Route(path string) {
	a.routes = append(a.routes, path)
	a.stale = true // a lead: what reads it brings the app into service
}

func (a *App) Configure() {
	a.config = true // want `App.config is written without a.mu`
}

func (a *App) Handler() []string {
	a.startServing()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.config = !a.config
	return a.routes
}

func (a *App) startServing() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.stale {
		a.stale = false
	}
}

// Suite runs once.
type Suite struct {
	mu            sync.Mutex
	current, next string
}

func (s *Suite) Run(names []string) {
	for _, name := range names {
		s.set(name)
		println(s.current) // a lead: the goroutine that runs the suite is the one that writes
		println(s.next)    // want `Suite.next is read without s.mu`
	}
}

func (s *Suite) Current() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.current + s.next
}

func (s *Suite) Next(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.next = name
}

func (s *Suite) set(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.current = name
}

// Conns hands out connections.
type Conns struct {
	mu   sync.Mutex
	free []*Conn
	main *Conn
}

type Conn struct {
	mu   sync.Mutex
	sent int
	last int
}

func (c *Conns) acquire() *Conn {
	c.mu.Lock()
	defer c.mu.Unlock()
	conn := c.free[0]
	c.free = c.free[1:]
	return conn
}

func (c *Conns) Ping() {
	c.acquire().ping()
	c.main.pong()
}

func (c *Conn) ping() {
	println(c.sent) // a lead: the connection is the caller's
}

func (c *Conn) pong() {
	println(c.last) // want `Conn.last is read without c.mu`
}

func (c *Conn) Send(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sent += n
	c.last = n
}

func (c *Conn) Sent() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.sent + c.last
}

// Meter is read deep inside.
type Meter struct {
	mu          sync.Mutex
	total, seen int
}

func (m *Meter) Add(n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.total += n
	m.seen++
}

func (m *Meter) Mean() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.total / m.seen
}

func (m *Meter) Print() { m.header() }

func (m *Meter) header() {
	println(m.seen) // want `Meter.seen is read without m.mu`
	m.line()
}

func (m *Meter) line() {
	println(m.total) // a lead: callers come to it by two more calls
}
