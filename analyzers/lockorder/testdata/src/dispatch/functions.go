package dispatch

import "sync"

// Feed asks functions that it keeps.
type Feed struct {
	mu   sync.Mutex
	subs []*sub
	hook func()
	n    int
}

type sub struct{ match func(string) bool }

func (f *Feed) Publish(s string) (n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, x := range f.subs {
		if x.match(s) { // want `Feed.mu and Reader.mu are locked in both orders`
			n++
		}
	}
	return n
}

func (f *Feed) PublishRight(s string) {
	f.mu.Lock()
	subs := f.subs
	f.mu.Unlock()
	for _, x := range subs {
		x.match(s) // ok
	}
}

func (f *Feed) add(m func(string) bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.subs = append(f.subs, &sub{m})
}

func (f *Feed) clear() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.subs = nil
}

// Reader is asked by its feed.
type Reader struct {
	mu sync.Mutex
	n  int
	f  *Feed
}

func (f *Feed) NewReader() *Reader {
	r := &Reader{f: f}
	f.add(r.match)
	return r
}

func (r *Reader) match(string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.n > 0
}

func (r *Reader) Leave() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.f.clear()
}

// Gauge has a function of the feed, and takes no lock of its own there.
type Gauge struct {
	mu sync.Mutex
	f  *Feed
	n  int
}

func (f *Feed) NewGauge() *Gauge {
	g := &Gauge{f: f}
	f.add(func(string) bool { return g != nil }) // ok: it takes no lock
	return g
}

func (g *Gauge) Leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.f.clear()
}

// Timer calls its function in a goroutine, or without the lock.
type Timer struct {
	mu   sync.Mutex
	f    func()
	stop bool
}

func (t *Timer) Fire() {
	t.mu.Lock()
	defer t.mu.Unlock()
	go t.f() // ok: another goroutine
}

func (t *Timer) Run() {
	t.mu.Lock()
	f := t.f
	t.mu.Unlock()
	f() // ok
}

func (t *Timer) Stop() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.stop = true
}

type Alarm struct {
	mu sync.Mutex
	t  *Timer
	n  int
}

func NewAlarm() *Alarm {
	a := &Alarm{}
	a.t = &Timer{f: func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.n++
	}}
	return a
}

func (a *Alarm) Close() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.t.Stop()
}

// Each is handed its function, which is not that of Walk.
func (f *Feed) Each(do func(*sub)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, x := range f.subs {
		do(x)
	}
}

// Cache has a hook that a literal sets.
type Cache struct {
	mu      sync.Mutex
	evicted func(int)
}

func (c *Cache) Evict(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.evicted != nil {
		c.evicted(n) // want `Cache.mu and Owner.mu are locked in both orders`
	}
}

type Owner struct {
	mu sync.Mutex
	c  Cache
	n  int
}

func NewOwner() *Owner {
	o := &Owner{}
	o.c.evicted = func(n int) {
		o.mu.Lock()
		o.n -= n
		o.mu.Unlock()
	}
	return o
}

func (o *Owner) Drop() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.c.Evict(1)
}
