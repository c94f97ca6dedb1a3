// Package elements accesses elements of arrays and slices atomically, and plainly elsewhere.
package elements

import "sync/atomic"

// Slots counts in the elements of an array.
type Slots struct {
	v [4]int64
	n []uint32
}

func New(n int) *Slots {
	s := &Slots{n: make([]uint32, n)}
	s.v[0] = 1 // ok: nobody else has s
	s.n[0] = 1 // ok
	return s
}

func (s *Slots) Add(i int, x int64) {
	atomic.AddInt64(&s.v[i], x)
	atomic.AddUint32(&s.n[i], 1)
}

func (s *Slots) Get(i int) int64 {
	return s.v[i] // want `Slots.v is read plainly`
}

func (s *Slots) Count(i int) uint32 {
	return s.n[i] // want `Slots.n is read plainly`
}

func (s *Slots) Fast(i int) int64 { return atomic.LoadInt64(&s.v[i]) } // ok

// Len asks for no element.
func (s *Slots) Len() int { return len(s.v) + len(s.n) } // ok

// Pair has an atomic element and one that its owner alone uses.
type Pair struct{ v [2]int64 }

func (p *Pair) Add()       { atomic.AddInt64(&p.v[0], 1) }
func (p *Pair) Own() int64 { p.v[1]++; return p.v[1] } // ok: another element

var hits [8]int32

func Hit(i int) { atomic.AddInt32(&hits[i], 1) }

func Hits() [8]int32 {
	return hits // want `hits is read plainly`
}

func init() { hits[0] = 1 } // ok: before all else

// Typed has elements of a type that knows no plain access.
type Typed struct{ v [4]atomic.Int64 }

func (t *Typed) Add(i int)       { t.v[i].Add(1) }
func (t *Typed) Get(i int) int64 { return t.v[i].Load() } // ok
