package basic

import (
	"sync"
	"sync/atomic"
)

type limits struct{ rate, burst int }

type config struct {
	mu  sync.Mutex
	lim limits
	out limits
}

func (c *config) setRate(n int) {
	c.lim.rate = n // want `limits.rate is accessed by two goroutines that nothing orders`
	c.mu.Lock()
	defer c.mu.Unlock()
	c.out.burst = n
}

func (c *config) limits() limits { return c.lim }

func (c *config) outer() limits {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.out // ok: under the lock
}

func (c *config) allow() bool { return c.limits().rate > 0 }
func (c *config) wide() bool  { return c.outer().burst > 0 }

// The copy is made two calls below the goroutine.
func Configured() {
	c := &config{}
	go func() { c.setRate(1) }()
	go func() { c.allow(); c.wide() }()
}

type counts struct{ reads, writes int64 }

type disk struct{ counts *counts }

func (d *disk) read() { atomic.AddInt64(&d.counts.reads, 1) } // want `counts.reads is accessed by two goroutines that nothing orders`

func (d *disk) snapshot() counts { return *d.counts }

// The struct is copied that a pointer leads to, and the pointer is read before.
func Copied() {
	d := &disk{new(counts)}
	go d.read()
	_ = d.snapshot()
}

type settings struct {
	once, kept sync.Once
	vals       []string
}

func (s *settings) load() { s.once.Do(func() {}); s.kept.Do(func() {}) } // want `settings.once is accessed by two goroutines that nothing orders`

// A Once is assigned while another goroutine may call it.
func Reloaded() {
	s := &settings{kept: sync.Once{}}
	go s.load()
	s.once = sync.Once{}
}
