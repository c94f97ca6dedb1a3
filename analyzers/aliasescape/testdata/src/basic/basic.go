package basic

import "sync"

type Cache struct {
	mu     sync.RWMutex
	array  []byte
	index  map[string]int
	log    []string
	frozen map[string]int
	subs   []func()
}

func (c *Cache) Put(k string, v []byte) { // want Put:"changes Cache.array; changes Cache.index"
	c.mu.Lock()
	defer c.mu.Unlock()
	copy(c.array[c.index[k]:], v)
	c.index[k] = len(v)
	c.log = append(c.log, k)
}

func (c *Cache) Get(k string) string {
	c.mu.RLock()
	entry := c.array[c.index[k]:]
	c.mu.RUnlock()
	if len(entry) == 0 {
		return ""
	}
	return string(entry) // want `alias of Cache.array is used after c.mu: its elements .* \(\*Cache\).Put \(basic.go:\d+\) changes them`
}

func (c *Cache) Copied(k string) string {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return string(c.array[c.index[k]:]) // ok
}

func (c *Cache) Index() map[string]int { // want Index:"result 0 aliases Cache.index"
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.index // want `alias of Cache.index is returned from under c.mu`
}

func (c *Cache) Log() []string { // want Log:"result 0 aliases Cache.log"
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.log // ok: it is only appended to
}

func (c *Cache) Take() map[string]int { // want Take:"result 0 aliases Cache.index"
	c.mu.Lock()
	defer c.mu.Unlock()
	old := c.index
	c.index = map[string]int{}
	return old // ok: it is ours now
}

func (c *Cache) Freeze(m map[string]int) {
	c.mu.Lock()
	c.frozen = m
	c.mu.Unlock()
}

func (c *Cache) Frozen() map[string]int { // want Frozen:"result 0 aliases Cache.frozen"
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.frozen // ok: it is replaced, never changed
}

func (c *Cache) Remove(i int) { // want Remove:"changes Cache.subs"
	c.mu.Lock()
	c.subs = append(c.subs[:i], c.subs[i+1:]...)
	c.mu.Unlock()
}

func (c *Cache) Notify() {
	c.mu.Lock()
	subs := c.subs // want `alias of Cache.subs is used after c.mu`
	c.mu.Unlock()
	for _, f := range subs {
		f()
	}
}

// Set is filled in before anybody else has it, and replaced later.
type Set struct {
	mu sync.Mutex
	m  map[string]bool
	s  []int
}

func NewSet() *Set {
	s := &Set{m: map[string]bool{}, s: make([]int, 1)}
	s.mu.Lock()
	s.m["a"] = true
	s.s[0] = 1
	s.mu.Unlock()
	return s
}

func (s *Set) Reload() { // want Reload:"changes Set.m"
	s.mu.Lock()
	defer s.mu.Unlock()
	s.m = map[string]bool{}
	s.m["b"] = true
}

func (s *Set) Has(k string) bool {
	s.mu.Lock()
	m, list := s.m, s.s
	s.mu.Unlock()
	return m[k] && list[0] == 1 // ok
}

// Trim keeps pieces of a variable in itself.
func (s *Set) Trim() (rest []byte) {
	defer func() { rest = rest[:0] }()
	for len(rest) > 1 {
		rest = rest[1:]
	}
	return rest
}
