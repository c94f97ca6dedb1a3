// Package basic has tests of map entries under one lock and uses under the
// same lock, taken anew.
package basic

import "sync"

type entry struct{ n int }

func (e *entry) add(n int) { e.n += n }

type Cache struct {
	mu      sync.RWMutex
	entries map[string]*entry
	seen    map[string]bool
	names   map[string]string
	onEvict func(string)
}

func (c *Cache) GetOrCreate(k string) *entry {
	c.mu.RLock()
	e, ok := c.entries[k]
	c.mu.RUnlock()
	if ok {
		return e
	}
	e = &entry{}
	c.mu.Lock()
	c.entries[k] = e // want `test and use of Cache.entries are not one step: \(\*Cache\).GetOrCreate tests Cache.entries for a key at line \d+, and depending on the result it is set at line \d+; c.mu is released in between`
	c.mu.Unlock()
	return e
}

func (c *Cache) Nested(k string) *entry {
	c.mu.RLock()
	e := c.entries[k]
	c.mu.RUnlock()
	if e == nil {
		c.mu.Lock()
		e = &entry{}
		c.entries[k] = e // want `is set`
		c.mu.Unlock()
	}
	return e
}

func (c *Cache) CheckedAgain(k string) *entry {
	c.mu.RLock()
	e, ok := c.entries[k]
	c.mu.RUnlock()
	if ok {
		return e
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.entries[k]; ok {
		return e
	}
	e = &entry{}
	c.entries[k] = e // ok: looked at again
	return e
}

func (c *Cache) OneRegion(k string) *entry {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.entries[k]
	if !ok {
		e = &entry{}
		c.entries[k] = e // ok: one critical section
	}
	return e
}

func (c *Cache) Mark(k string) bool {
	c.mu.RLock()
	seen := c.seen[k]
	c.mu.RUnlock()
	if !seen {
		c.mu.Lock()
		c.seen[k] = true // ok: the same for all who set it
		c.mu.Unlock()
	}
	return seen
}

func (c *Cache) MarkAndTell(k string, ch chan<- string) {
	c.mu.RLock()
	seen := c.seen[k]
	c.mu.RUnlock()
	if !seen {
		c.mu.Lock()
		c.seen[k] = true // want `is set at line`
		c.mu.Unlock()
		ch <- k
	}
}

func (c *Cache) Name(k string) string {
	c.mu.RLock()
	n, ok := c.names[k]
	c.mu.RUnlock()
	if !ok {
		n = compute(k)
		c.mu.Lock()
		c.names[k] = n // ok: a value that is computed again with the same result
		c.mu.Unlock()
	}
	return n
}

func compute(k string) string { return k + k }

func (c *Cache) Evict(k string) {
	c.mu.RLock()
	_, ok := c.entries[k]
	c.mu.RUnlock()
	if !ok {
		return
	}
	c.mu.Lock()
	delete(c.entries, k) // want `is removed`
	c.mu.Unlock()
	c.onEvict(k)
}

func (c *Cache) Forget(k string) {
	c.mu.RLock()
	_, ok := c.entries[k]
	c.mu.RUnlock()
	if ok {
		c.mu.Lock()
		delete(c.entries, k) // ok: to remove what is gone does nothing
		c.mu.Unlock()
	}
}

func (c *Cache) Other(k, l string) {
	c.mu.RLock()
	_, ok := c.entries[k]
	c.mu.RUnlock()
	if !ok {
		c.mu.Lock()
		c.entries[l] = &entry{} // ok: another key
		c.mu.Unlock()
	}
}

type Session struct{ expires int }

func (s *Session) expired(now int) bool { return s.expires < now }

type Sessions struct {
	mu sync.RWMutex
	m  map[string]*Session
}

func (s *Sessions) Set(k string, v *Session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.m[k] = v
}

func (s *Sessions) Get(k string, now int) *Session {
	s.mu.RLock()
	v, ok := s.m[k]
	s.mu.RUnlock()
	if !ok {
		return nil
	}
	if v.expires < now {
		s.mu.Lock()
		delete(s.m, k) // want `tests what Sessions.m holds for a key at line \d+, and depending on the result it is removed at line \d+; .* as \(\*Sessions\).Set does`
		s.mu.Unlock()
		return nil
	}
	return v
}

func (s *Sessions) Expire(k string, now int) {
	s.mu.RLock()
	v := s.m[k]
	s.mu.RUnlock()
	if v != nil && v.expired(now) {
		s.mu.Lock()
		delete(s.m, k) // want `is removed`
		s.mu.Unlock()
	}
}

func (s *Sessions) ExpireRight(k string, now int) {
	s.mu.RLock()
	v := s.m[k]
	s.mu.RUnlock()
	if v != nil && v.expired(now) {
		s.mu.Lock()
		if s.m[k] == v {
			delete(s.m, k) // ok: the same one still
		}
		s.mu.Unlock()
	}
}
