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
	l.running.Add(1) // want `tests Limiter.running at line \d+, and by what it finds it is raised at line \d+; each is atomic, the two together are not`
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
		l.cur.Store(s) // want `is made`
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
	l.m.Store(k, s) // want `is made`
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
