package basic

import "sync"

type Counter struct {
	mu    sync.Mutex
	total int
	name  string
	seen  map[string]int
}

func New(name string) *Counter {
	return &Counter{name: name, seen: map[string]int{}}
}

func (c *Counter) Add(n int) {
	c.mu.Lock()
	c.total += n
	c.mu.Unlock()
}

func (c *Counter) Reset() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.total = 0 // ok
}

func (c *Counter) Get() int {
	return c.total // want `Counter.total is read without c.mu: c.mu is held at 3 of 4 accesses that were compared: 2 of 2 writes, 1 of 2 reads .1 other was not.; written at basic.go:18`
}

// Name is never written once the counter is shared.
func (c *Counter) Name() string { return c.name } // ok

func (c *Counter) Mark(k string) {
	c.mu.Lock()
	c.seen[k]++
	c.mu.Unlock()
}

func (c *Counter) Forget(k string) {
	c.mu.Lock()
	delete(c.seen, k)
	c.mu.Unlock()
}

func (c *Counter) Has(k string) bool {
	_, ok := c.seen[k] // want `Counter.seen is read without c.mu`
	return ok
}

func (c *Counter) Early(k string) int {
	c.mu.Lock()
	if k == "" {
		c.mu.Unlock()
		return 0
	}
	n := c.seen[k] // ok
	c.mu.Unlock()
	return n
}

// A conditional lock may be held: nothing is reported.
func (c *Counter) Maybe(lock bool) int {
	if lock {
		c.mu.Lock()
		defer c.mu.Unlock()
	}
	return c.total // ok
}

func (c *Counter) Try() int {
	if c.mu.TryLock() {
		defer c.mu.Unlock()
		return c.total // ok
	}
	return -1
}

var (
	poolMu sync.Mutex
	pool   []int
)

func Put(n int) {
	poolMu.Lock()
	defer poolMu.Unlock()
	pool = append(pool, n)
}

func Take() int {
	poolMu.Lock()
	defer poolMu.Unlock()
	n := pool[0]
	pool = pool[1:]
	return n
}

func Size() int { return len(pool) } // want `pool is read without poolMu`

func init() {
	pool = make([]int, 0, 8) // ok: nobody else runs yet
}

type timer struct {
	sync.Mutex
	fired bool
}

func (t *timer) Fire() {
	t.Lock()
	t.fired = true
	t.Unlock()
}

func (t *timer) Clear() {
	t.Lock()
	defer t.Unlock()
	t.fired = false
}

func (t *timer) Fired() bool { return t.fired } // want `timer.fired is read without t.Mutex`

// Two locks: render orders all that draws, mu guards the page against readers.
type Page struct {
	mu, render sync.Mutex
	text       string
}

func (p *Page) Draw() string {
	p.render.Lock()
	defer p.render.Unlock()
	p.mu.Lock()
	p.text += "!"
	p.mu.Unlock()
	return p.text // ok: all writers hold render
}

func (p *Page) Text() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text
}
