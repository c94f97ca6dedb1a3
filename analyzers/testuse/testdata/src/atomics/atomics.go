// Package atomics has tests and uses that are atomic operations.
package atomics

import (
	"sync"
	"sync/atomic"
)

type state struct{ n atomic.Int64 }

type Limiter struct {
	running atomic.Int32
	max     int32
	cur     atomic.Pointer[state]
	m       sync.Map
	started atomic.Bool
	jobs    chan func()
}

func (l *Limiter) Acquire() bool {
	if l.running.Load() >= l.max {
		return false
	}
	l.running.Add(1) // want `tests Limiter.running at line \d+, and depending on the result it is raised at line \d+; each is atomic, the two together are not`
	return true
}

// AcquireLoosely may let in one too many in a race, which is acceptable.
func (l *Limiter) AcquireLoosely() bool {
	if l.running.Load() >= l.max {
		return false
	}
	l.running.Add(1) // ok: so its comment says
	return true
}

func (l *Limiter) AcquireRight() bool {
	for {
		n := l.running.Load()
		if n >= l.max {
			return false
		}
		if l.running.CompareAndSwap(n, n+1) { // ok
			return true
		}
	}
}

func (l *Limiter) AcquireBack() bool {
	if l.running.Add(1) > l.max {
		l.running.Add(-1) // ok: it takes back what it took
		return false
	}
	return true
}

func (l *Limiter) Current() *state {
	s := l.cur.Load()
	if s == nil {
		s = &state{}
		l.cur.Store(s) // want `is set at`
	}
	return s
}

func (l *Limiter) CurrentRight() *state {
	s := l.cur.Load()
	if s == nil {
		s = &state{}
		if !l.cur.CompareAndSwap(nil, s) { // ok
			return l.cur.Load()
		}
	}
	return s
}

func (l *Limiter) Entry(k string) *state {
	if v, ok := l.m.Load(k); ok {
		return v.(*state)
	}
	s := &state{}
	l.m.Store(k, s) // want `is set at`
	return s
}

func (l *Limiter) EntryRight(k string) *state {
	if v, ok := l.m.Load(k); ok {
		return v.(*state)
	}
	v, _ := l.m.LoadOrStore(k, &state{}) // ok
	return v.(*state)
}

type spec struct{ fields map[string]int }

func newSpec(k string) *spec {
	s := &spec{fields: map[string]int{}}
	s.fields[k] = len(k)
	return s
}

func (l *Limiter) Spec(k string) *spec {
	if v, ok := l.m.Load(k); ok {
		return v.(*spec)
	}
	s := newSpec(k)
	l.m.Store(k, s) // ok: computed again with the same result, and never changed
	return s
}

func (l *Limiter) Start() {
	if !l.started.Load() {
		l.started.Store(true) // want `is set`
		go l.work()
	}
}

func (l *Limiter) StartRight() {
	if l.started.CompareAndSwap(false, true) { // ok
		go l.work()
	}
}

func (l *Limiter) work() {
	for j := range l.jobs {
		j()
	}
}

// Slots has places that are claimed by what Add returns.
type Slots struct {
	next  atomic.Int32
	taken atomic.Int64
	s     [8]int
}

func (s *Slots) Put(v int) bool {
	if s.next.Load() >= 8 {
		return false
	}
	i := s.next.Add(1) - 1 // ok: asked for when it is computed further
	if i >= 8 {
		return false
	}
	s.s[i] = v
	return true
}

func (s *Slots) PutLast(v int) {
	if s.next.Load() < 8 {
		s.s[min(s.next.Add(1)-1, 7)] = v // ok: the smaller of two
	}
}

func (s *Slots) PutBlindly(v int) {
	if s.next.Load() < 8 {
		s.s[s.next.Add(1)-1] = v // want `is raised`
	}
}

func fits(i int32) bool { return i < 8 }

func (s *Slots) PutFitting(v int) bool {
	if s.next.Load() >= 8 {
		return false
	}
	i := s.next.Add(1) - 1 // ok: a function asks for it
	if !fits(i) {
		return false
	}
	s.s[i] = v
	return true
}

// claim raises next, and returns what it was.
func (s *Slots) claim() int32 { return s.next.Add(1) - 1 }

func (s *Slots) PutClaimed(v int) {
	if s.next.Load() < 8 {
		if i := s.claim(); i < 8 { // ok: asked for by the caller
			s.s[i] = v
		}
	}
}

func (s *Slots) PutClaimedBlindly(v int) {
	if s.next.Load() < 8 {
		s.s[s.claim()] = v // want `is raised`
	}
}

// Take returns what was too much: the claim decides, not the earlier test.
func (s *Slots) Take() bool {
	if s.taken.Load() >= 3 {
		return false
	}
	if s.taken.Add(1) > 3 {
		s.taken.Add(-1) // ok
		return false
	}
	return true
}

func (s *Slots) Leave() { s.taken.Add(-1) }
