package basic

import (
	"sync"
	"sync/atomic"
)

type entry struct{ until int64 }

func (e *entry) Extend(t int64) { atomic.StoreInt64(&e.until, t) }

func (e *entry) Over(t int64) bool { return atomic.LoadInt64(&e.until) < t }

type registry struct {
	mu      sync.RWMutex
	entries map[string]*entry
}

func (r *registry) find(key string) *entry {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.entries[key]
}

func (r *registry) Get(key string, now int64) *entry {
	e := r.find(key)
	if e == nil {
		return nil
	}
	if e.until > now { // want `entry.until is read plainly and accessed atomically elsewhere: \(\*entry\).Extend writes it .* Also plain: registry.go:43`
		return e
	}
	return nil
}

func (r *registry) Until(key string) int64 {
	r.mu.RLock()
	e, ok := r.entries[key]
	r.mu.RUnlock()
	if !ok {
		return 0
	}
	return e.until
}

type task struct{ state int32 }

func (t *task) Stop() { atomic.StoreInt32(&t.state, 2) }

func (t *task) Stopped() bool { return atomic.LoadInt32(&t.state) == 2 }

type queue struct {
	mu   sync.Mutex
	list []*task
	own  map[string]*task
}

func (q *queue) next() *task {
	q.mu.Lock()
	defer q.mu.Unlock()
	t := q.list[0]
	q.list = q.list[1:]
	return t
}

// Run has the task alone: it is in no list any more.
func (q *queue) Run() bool {
	t := q.next()
	return t.state == 1 // a lead
}

// Mine looks into a map that no lock guards, which is that of one goroutine.
func (q *queue) Mine(key string) bool {
	t := q.own[key]
	return t != nil && t.state == 1 // a lead
}

type Breaker struct {
	broken int32
	last   int64
	trips  int32
}

func (b *Breaker) Break() { atomic.StoreInt32(&b.broken, 1) }

func (b *Breaker) Trip(at int64) { atomic.StoreInt64(&b.last, at) }

func (b *Breaker) state(now int64) bool {
	if b.broken == 1 { // want `Breaker.broken is read plainly`
		return true
	}
	return atomic.LoadInt64(&b.last) < now
}

func (b *Breaker) Ready(now int64) bool { return !b.state(now) }

func (b *Breaker) Trips(n int32) { atomic.StoreInt32(&b.trips, n) }

// Alone accesses nothing atomically.
func (b *Breaker) Alone() bool { return b.trips == 1 } // a lead
