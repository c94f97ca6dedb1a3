// Package lengths has tests of lengths and counters.
package lengths

import "sync"

type job func()

type Pool struct {
	mu      sync.Mutex
	idle    []*int
	queue   []job
	byName  map[string]*int
	running int
	max     int
}

func (p *Pool) Add(name string, v *int) bool {
	p.mu.Lock()
	full := len(p.byName) >= p.max
	p.mu.Unlock()
	if full {
		return false
	}
	p.mu.Lock()
	p.byName[name] = v // want `tests the length of Pool.byName at line \d+, and depending on the result it is added to`
	p.mu.Unlock()
	return true
}

func (p *Pool) Start() bool {
	p.mu.Lock()
	n := p.running
	p.mu.Unlock()
	if n >= p.max {
		return false
	}
	p.mu.Lock()
	p.running++ // want `is raised`
	p.mu.Unlock()
	return true
}

func (p *Pool) StartOnce() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.running >= p.max {
		return false
	}
	p.running++ // ok: one critical section
	return true
}

func (p *Pool) Pop() job {
	p.mu.Lock()
	n := len(p.queue)
	p.mu.Unlock()
	if n == 0 {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	j := p.queue[0] // want `is indexed`
	p.queue = p.queue[1:]
	return j
}

func (p *Pool) PopRight() job {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.queue) == 0 {
		return nil
	}
	j := p.queue[0]
	p.queue = p.queue[1:] // ok
	return j
}

func (p *Pool) Peek() *int {
	p.mu.Lock()
	some := len(p.idle) > 0
	p.mu.Unlock()
	if !some {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.idle[0] // want `is indexed`
}

func (p *Pool) Put(v *int) {
	p.mu.Lock()
	p.idle = append(p.idle, v)
	p.mu.Unlock()
	p.mu.Lock()
	p.idle = append(p.idle, v) // ok: nothing decides
	p.mu.Unlock()
}

func (p *Pool) Push(j job) {
	p.mu.Lock()
	p.queue = append(p.queue, j)
	p.mu.Unlock()
}

func (p *Pool) Drain() {
	p.mu.Lock()
	p.idle = nil
	p.mu.Unlock()
}

// Throttle passes the limit anyhow.
func (p *Pool) Throttle(n int) bool {
	p.mu.Lock()
	full := p.running >= p.max
	p.mu.Unlock()
	if full {
		return false
	}
	p.mu.Lock()
	p.running += n // ok: the test does not ask for n
	p.mu.Unlock()
	return true
}

func (p *Pool) Reserve(n int) bool {
	p.mu.Lock()
	full := p.running+n > p.max
	p.mu.Unlock()
	if full {
		return false
	}
	p.mu.Lock()
	p.running += n // want `is raised`
	p.mu.Unlock()
	return true
}

// Flush takes only what it has found.
func (p *Pool) Flush() {
	p.mu.Lock()
	if p.running == 0 {
		p.mu.Unlock()
		return
	}
	n := p.running
	p.mu.Unlock()
	p.mu.Lock()
	p.running -= n // ok: what others add stays
	p.mu.Unlock()
}

// Walk comes to the next one before it looks at that.
func (p *Pool) Walk(others []*Pool) {
	for _, o := range others {
		o.mu.Lock()
		o.running++ // ok: another pool than the one that was looked at
		o.mu.Unlock()
		o.mu.Lock()
		some := o.running < o.max
		o.mu.Unlock()
		if some {
			println()
		}
	}
}

func (p *Pool) Stop() {
	p.mu.Lock()
	p.running--
	p.mu.Unlock()
}

type Buffer struct {
	mu   sync.Mutex
	text []byte
	log  []string
}

func (b *Buffer) Len() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.text)
}

func (b *Buffer) first(n int) []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text[:n]
}

func (b *Buffer) upTo(n int) []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	if n > len(b.text) {
		n = len(b.text)
	}
	return b.text[:n]
}

func (b *Buffer) Truncate() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.text = b.text[:0]
}

func (b *Buffer) Append(o *Buffer) []byte {
	n := o.Len()
	return o.first(n) // want `\(\*Buffer\).Append takes the length of Buffer.text at line \d+ \(by \(\*Buffer\).Len, lengths.go:\d+\), and depending on the result it is indexed`
}

func (b *Buffer) AppendSome(o *Buffer) []byte {
	return o.upTo(o.Len()) // ok: it looks again
}

func (b *Buffer) Last() byte {
	n := b.Len()
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text[n-1] // want `is indexed`
}

func (b *Buffer) Note(s string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.log = append(b.log, s)
}

func (b *Buffer) Oldest() []string {
	b.mu.Lock()
	n := len(b.log)
	b.mu.Unlock()
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.log[:n] // ok: it only grows
}

type Max struct {
	mu sync.Mutex
	n  int
}

func (m *Max) get() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.n
}

func (m *Max) Update(n int) {
	if n > m.get() {
		m.mu.Lock()
		m.n = n // want `tests Max.n at line \d+ .*it is set at line`
		m.mu.Unlock()
	}
}

func (m *Max) Change(n int) {
	if n != m.get() {
		m.mu.Lock()
		m.n = n // ok: the same if done twice
		m.mu.Unlock()
	}
}

// Due lets one thing happen from time to time; once more does no harm.
func (m *Max) Due(now int) bool {
	if now-m.get() < 60 {
		return false
	}
	m.mu.Lock()
	m.n = now // ok
	m.mu.Unlock()
	return true
}

func (m *Max) UpdateRight(n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if n > m.n {
		m.n = n // ok
	}
}

// Conns opens as many as it may; its first critical section serves some callers.
type Conns struct {
	mu    sync.Mutex
	idle  []*int
	open  int
	limit int
}

func (c *Conns) Get() *int {
	c.mu.Lock()
	if n := len(c.idle); n > 0 {
		v := c.idle[n-1]
		c.idle = c.idle[:n-1]
		c.mu.Unlock()
		return v
	}
	if c.open >= c.limit {
		c.mu.Unlock()
		return nil
	}
	c.mu.Unlock()
	v := new(int)
	c.mu.Lock()
	c.open++ // want `is raised`
	c.mu.Unlock()
	return v
}

type Hub struct {
	mu     sync.Mutex
	topics map[string]map[int]bool
}

func (h *Hub) count(t string) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.topics[t])
}

func (h *Hub) Join(t string, id int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.topics[t] == nil {
		h.topics[t] = map[int]bool{}
	}
	h.topics[t][id] = true
}

func (h *Hub) Leave(t string, id int) {
	h.mu.Lock()
	delete(h.topics[t], id)
	h.mu.Unlock()
	if h.count(t) == 0 {
		h.mu.Lock()
		delete(h.topics, t) // want `tests what Hub.topics holds for a key at line \d+ .* removed`
		h.mu.Unlock()
	}
}
