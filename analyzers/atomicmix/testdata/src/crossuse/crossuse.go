// Package crossuse accesses another package's fields, atomically and not.
// (What two packages do with one field is for the join.)
package crossuse

import (
	"cross"
	"sync/atomic"
)

func Hit(s *cross.Stats)        { atomic.AddInt64(&s.Hits, 1) }
func Hits(s *cross.Stats) int64 { return s.Hits } // want `Stats.Hits is read plainly and accessed atomically elsewhere`

func Grow(s *cross.Stats)       { atomic.AddInt64(&s.Size, 1) }
func Size(s *cross.Stats) int64 { return atomic.LoadInt64(&s.Size) } // ok

func New(n int64) *cross.Stats {
	s := &cross.Stats{}
	s.Size = n // ok: nobody else knows it
	return s
}

func Max(s *cross.Stats) int64 { return s.Max } // ok: plain everywhere
