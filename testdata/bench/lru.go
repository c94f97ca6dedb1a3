package bench

import "sync"

// LRU is a cache of fixed size that forgets what was used least recently,
// safe for concurrent use.
type LRU struct {
	mu    sync.Mutex
	size  int
	items map[int]*entry // guarded by mu
	head  entry          // guarded by mu: ring, newest after head
	hits  int            // guarded by mu
}

type entry struct {
	key, value int
	prev, next *entry
}

// NewLRU makes a cache for size entries.
func NewLRU(size int) *LRU {
	c := &LRU{size: size, items: make(map[int]*entry, size)}
	c.head.prev, c.head.next = &c.head, &c.head
	return c
}

// Get returns the value of key and makes it the newest.
func (c *LRU) Get(key int) (int, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.items[key]
	if !ok {
		return 0, false
	}
	c.hits++
	e.unlink()
	c.pushFront(e)
	return e.value, true
}

// Put sets the value of key and drops the oldest entry where there is no room.
func (c *LRU) Put(key, value int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.items[key]; ok {
		e.value = value
		e.unlink()
		c.pushFront(e)
		return
	}
	if len(c.items) >= c.size {
		oldest := c.head.prev
		oldest.unlink()
		delete(c.items, oldest.key)
	}
	e := &entry{key: key, value: value}
	c.items[key] = e
	c.pushFront(e)
}

func (c *LRU) pushFront(e *entry) {
	e.prev, e.next = &c.head, c.head.next
	e.prev.next, e.next.prev = e, e
}

func (e *entry) unlink() {
	e.prev.next, e.next.prev = e.next, e.prev
}
