// Package copies reads and writes structs as a whole.
package copies

import "sync"

type Metrics struct{ Inserted, Hits int }

type Cache struct {
	mu      sync.Mutex
	m       map[string]int
	metrics Metrics
	limits  Limits
}

// Limits are set before the cache is shared.
type Limits struct{ max int }

func New(max int) *Cache {
	c := &Cache{m: map[string]int{}}
	c.limits.max = max
	return c
}

func (c *Cache) Set(k string, v int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.m[k] = v
	c.metrics.Inserted++
}

func (c *Cache) Get(k string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.metrics.Hits++
	return c.m[k]
}

func (c *Cache) Add(k string, v int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.m[k] += v
	c.metrics.Inserted++
}

func (c *Cache) Metrics() Metrics { return c.metrics } // want `Metrics.Inserted is read without c.mu`

func (c *Cache) MetricsRight() Metrics {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.metrics
}

func (c *Cache) Clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.metrics = Metrics{}
}

func (c *Cache) Limits() Limits { return c.limits } // ok: never changed

func (c *Cache) Reset() {
	c.metrics = Metrics{} // want `Metrics.Inserted is written without c.mu`
}

// Stats is copied through its pointer.
type Stats struct{ sent, lost int }

type Link struct {
	mu    sync.Mutex
	stats *Stats
}

func (l *Link) Send(ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stats.sent++
	if !ok {
		l.stats.lost++
	}
}

func (l *Link) Sent() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.stats.sent
}

func (l *Link) Stats() Stats { return *l.stats } // want `Stats.sent is read without l.mu`

func (l *Link) Fresh() Stats {
	var s Stats
	s.sent = 1
	return s // ok: a local
}

// Counts are handed out as copies, to which methods are applied.
type Counts struct{ open, closed int }

type Door struct {
	mu     sync.Mutex
	counts Counts
}

func (d *Door) Open() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.counts.open++
}

func (d *Door) Close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.counts.open--
	d.counts.closed++
}

func (d *Door) Counts() Counts {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.counts
}

func (c *Counts) Since(old *Counts) Counts {
	if old == nil {
		return *c // ok: nobody else has the address of Door.counts
	}
	return Counts{c.open - old.open, c.closed - old.closed}
}
