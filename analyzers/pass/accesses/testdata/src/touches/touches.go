// Package touches has objects that leave all locking to their users, and some
// that do not.
package touches

import (
	"sync"
	"sync/atomic"
)

type stats struct{ hits int }

type LRU struct {
	size  int
	stats stats
	m     map[int]int
}

func (l *LRU) Cap() int { return l.size } // want Cap:"reads size"

func (l *LRU) Resize(n int) { l.resize(n) } // want Resize:"writes size"

func (l *LRU) resize(n int) { l.size = n }

func (l *LRU) Grow() { // want Grow:"reads m, writes size"
	l.size++
	println(l.Cap(), l.m)
}

func (l *LRU) Get(k int) int { // want Get:"reads m, writes stats.hits"
	l.stats.hit()
	return l.m[k]
}

func (s *stats) hit() { s.hits++ }

func (l *LRU) Same(o *LRU) bool { return l == o }

func (l *LRU) Other(o *LRU) int { return o.size } // ok: not the receiver's

func (l LRU) Copy() int { return l.size } // ok: a copy

// Safe has a lock, if not in every method.
type Safe struct {
	mu sync.Mutex
	n  int
}

func (s *Safe) N() int { return s.n }

type Counter struct {
	n    atomic.Int64
	last int
}

func (c *Counter) Last() int { return c.last }

// Guarded uses the lock of a package.
type Guarded struct{ n int }

var mu sync.Mutex

func (g *Guarded) N() int {
	mu.Lock()
	defer mu.Unlock()
	return g.n
}
