// Package copies: a method behind an interface returns a copy.
package copies

import "sync/atomic"

type Stats struct{ Hits, Misses int64 }

type Cache interface {
	Stats() *Stats
	Live() *Stats
}

type local struct{ stats Stats }

func (l *local) Hit()  { atomic.AddInt64(&l.stats.Hits, 1) }
func (l *local) Miss() { atomic.AddInt64(&l.stats.Misses, 1) }

func (l *local) Stats() *Stats {
	return &Stats{Hits: atomic.LoadInt64(&l.stats.Hits)}
}

func (l *local) Live() *Stats { return &l.stats }

type constant struct{ stats *Stats }

func (c constant) Stats() *Stats { return c.stats }
func (constant) Live() *Stats    { return nil }

func New(on bool) Cache {
	if on {
		return new(local)
	}
	return constant{}
}

func Report(c Cache) int64 {
	if s := c.Stats(); s != nil {
		return s.Hits // ok: a copy
	}
	return 0
}

func Misses(c Cache) int64 {
	if s := c.Live(); s != nil {
		return s.Misses // ok: a lead, it may be another one
	}
	return 0
}
