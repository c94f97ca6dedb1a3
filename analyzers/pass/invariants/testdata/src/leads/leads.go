// Package leads has accesses in two critical sections of one lock that have to do with each other, and those that have
// not. The golden file has the lines.
package leads

import (
	"sync"
	"sync/atomic"
)

type conn struct{ n int }

func (c *conn) write() { c.n++ }

type T struct {
	mu     sync.RWMutex
	conn   *conn
	list   []string
	seats  []string
	users  map[string]int
	byName map[int]string
	state  int
	other  int
	cur    atomic.Pointer[conn]
	a, b   atomic.Int64
}

func (t *T) connected() bool {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.conn != nil
}

func (t *T) Send() { // wrong: closed in between
	if !t.connected() {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.conn.write()
}

func (t *T) SendOnce() { // right
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.conn != nil {
		t.conn.write()
	}
}

func (t *T) copied() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append([]string(nil), t.list...)
}

func (t *T) replace(list []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.list = list
}

func (t *T) Add(s string) { // wrong: what others have added is lost
	list := t.copied()
	list = append(list, s)
	t.replace(list)
}

func (t *T) Drain() []string { // wrong: what comes in between is neither returned nor kept
	list := t.copied()
	t.mu.Lock()
	t.list = nil
	t.mu.Unlock()
	return list
}

func (t *T) DrainOnce() []string { // right
	t.mu.Lock()
	defer t.mu.Unlock()
	list := t.list
	t.list = nil
	return list
}

func (t *T) free() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i, s := range t.seats {
		if s == "" {
			return i
		}
	}
	return -1
}

func (t *T) Book(name string) { // wrong: two have one seat
	i := t.free()
	if i < 0 {
		return
	}
	t.mu.Lock()
	t.seats[i] = name
	t.mu.Unlock()
}

func (t *T) Sweep() { // wrong: one that was put anew is removed
	var old []string
	t.mu.Lock()
	for k, n := range t.users {
		if n > 3 {
			old = append(old, k)
		}
	}
	t.mu.Unlock()
	for _, k := range old {
		t.mu.Lock()
		delete(t.users, k)
		t.mu.Unlock()
	}
}

func (t *T) Put(k string, n int) {
	t.mu.Lock()
	t.users[k] = n
	t.byName[n] = k
	t.mu.Unlock()
}

func (t *T) PutApart(k string, n int) { // wrong: for a moment one map has what the other lacks
	t.mu.Lock()
	t.users[k] = n
	t.mu.Unlock()
	t.mu.Lock()
	t.byName[n] = k
	t.mu.Unlock()
}

func (t *T) Unrelated(n int) { // right: nobody changes the two together
	t.mu.Lock()
	t.state = n
	t.mu.Unlock()
	t.mu.Lock()
	t.other = n
	t.mu.Unlock()
}

func (t *T) Twice() int { // wrong: the second load may be of nil
	if t.cur.Load() == nil {
		return 0
	}
	return t.cur.Load().n
}

func (t *T) Set(n int64) { // wrong: the two belong together
	t.a.Store(n)
	t.b.Store(-n)
}

func (t *T) Both() int64 { // wrong
	x := t.a.Load()
	return x + t.b.Load()
}

type stock struct {
	mu            sync.Mutex
	shelf, window int
}

func (s *stock) take(n int) {
	s.mu.Lock()
	s.shelf -= n
	s.mu.Unlock()
}

func (s *stock) show(n int) {
	s.mu.Lock()
	s.window += n
	s.mu.Unlock()
}

func (s *stock) Move(n int) { // wrong: Total misses what is on its way
	s.take(n)
	s.show(n)
}

func (s *stock) Total() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.shelf + s.window
}
