package atomics

import (
	"sync"
	"sync/atomic"
)

type Stats struct {
	hits atomic.Int64
	old  int64
	high atomic.Int64
}

func (s *Stats) Hit() { s.hits.Store(s.hits.Load() + 1) } // want `update of Stats.hits is not one step: .*with two atomic operations`

func (s *Stats) Old() {
	n := atomic.LoadInt64(&s.old)
	atomic.StoreInt64(&s.old, n+1) // want `update of Stats.old is not one step`
}

func (s *Stats) Older() {
	n := atomic.LoadInt64(&s.old)
	atomic.StoreInt64(&s.old, n-1) // want `update of Stats.old is not one step`
}

// Queue has one place that moves each end, and its users know who may.
type Queue struct {
	tail atomic.Int64
	word atomic.Uint64
}

func (q *Queue) Put() { q.tail.Store(q.tail.Load() + 1) } // a lead: nobody else changes it

func (q *Queue) Len() int64 { return q.tail.Load() }

func (q *Queue) lock() bool {
	w := q.word.Load()
	return w&1 == 0 && q.word.CompareAndSwap(w, w|1)
}

func (q *Queue) Set() {
	if q.lock() {
		q.word.Store(q.word.Load() &^ 1) // a lead: a bit of the word is the lock
	}
}

func (q *Queue) Move() {
	if q.lock() {
		q.word.Store((q.word.Load() + 2) &^ 1)
	}
}

func (s *Stats) Good() { s.hits.Add(1) } // ok

func (s *Stats) Swap(n int64) {
	for {
		old := s.high.Load()
		if old >= n || s.high.CompareAndSwap(old, n) { // ok
			return
		}
	}
}

func Start() *Stats {
	s := &Stats{}
	s.high.Store(s.high.Load() + 1) // ok: not shared yet
	go s.loop()
	return s
}

func (s *Stats) loop() {}

// Words counts in a sync.Map.
type Words struct {
	mu    sync.Mutex
	count sync.Map
	ready atomic.Int32
}

func (w *Words) Add(word string) {
	v, _ := w.count.Load(word)
	n, _ := v.(int)
	w.count.Store(word, n+1) // want `update of Words.count is not one step: .*each is atomic`
}

func (w *Words) AddIf(word string) {
	if v, ok := w.count.Load(word); ok {
		w.count.Store(word, v.(int)+1) // want `update of Words.count is not one step`
	}
}

func (w *Words) Swap(word string) {
	for {
		v, _ := w.count.LoadOrStore(word, 0)
		if w.count.CompareAndSwap(word, v, v.(int)+1) { // ok
			return
		}
	}
}

func (w *Words) Locked(word string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	v, _ := w.count.Load(word)
	n, _ := v.(int)
	w.count.Store(word, n+1) // ok: one step under the lock
}

func (w *Words) Rename(from, to string) {
	v, _ := w.count.Load(from)
	w.count.Store(to, v) // ok: another entry
}

func (w *Words) Keep(word string) {
	if v, ok := w.count.Load(word); ok {
		w.count.Store(word, v) // ok: what was there
	}
}

func (w *Words) Start() {
	for _, word := range []string{"a", "b"} {
		go w.Add(word)
		go w.AddIf(word)
		go w.Swap(word)
		go w.Locked(word)
		go w.Rename(word, "c")
		go w.Keep(word)
	}
}
