// Package wholes counts atomically, and copies the counters with their struct.
package wholes

import "sync/atomic"

type Stats struct{ Hits, Misses int64 }

type Cache struct{ stats Stats }

func (c *Cache) Hit()  { atomic.AddInt64(&c.stats.Hits, 1) }
func (c *Cache) Miss() { atomic.AddInt64(&c.stats.Misses, 1) }

func (c *Cache) Copy() Stats {
	return c.stats // want `Stats.Hits is copied plainly and accessed` `Stats.Misses is copied`
}

// Each takes the fields one by one.
func (c *Cache) Each() Stats {
	return Stats{atomic.LoadInt64(&c.stats.Hits), atomic.LoadInt64(&c.stats.Misses)}
}

// Total is copied by its only goroutine, which alone adds to it.
type Total struct{ sum struct{ n int64 } }

func (t *Total) add() { atomic.AddInt64(&t.sum.n, 1) }

func Sum(in []int) int64 {
	t := new(Total)
	for range in {
		t.add()
	}
	copied := t.sum
	return copied.n
}
