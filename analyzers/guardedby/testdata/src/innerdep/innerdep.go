// Package innerdep has objects that leave all locking to their users, and one
// that does not.
package innerdep

import "sync"

type LRU struct {
	size int
	name string
	m    map[int]int
}

func New(name string) *LRU { return &LRU{name: name, m: map[int]int{}} }

func (l *LRU) Cap() int         { return l.size }
func (l *LRU) Resize(n int)     { l.shrink(n) }
func (l *LRU) shrink(n int)     { l.size = n }
func (l *LRU) Put(k, v int)     { l.m[k] = v }
func (l *LRU) Get(k int) int    { return l.m[k] }
func (l *LRU) Name() string     { return l.name }
func (l *LRU) Same(o *LRU) bool { return l == o }

// CapUnder takes the lock that it is passed.
func (l *LRU) CapUnder(mu sync.Locker) int {
	mu.Lock()
	n := l.Cap()
	mu.Unlock()
	return n
}

type Safe struct {
	mu sync.Mutex
	n  int
}

func (s *Safe) Add(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.n += n
}

func (s *Safe) N() int { return s.n }
