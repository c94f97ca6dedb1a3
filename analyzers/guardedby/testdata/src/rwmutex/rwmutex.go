package rwmutex

import "sync"

type Conf struct {
	mu  sync.RWMutex
	val string
	n   int
}

func (c *Conf) Set(v string) {
	c.mu.Lock()
	c.val = v
	c.n++
	c.mu.Unlock()
}

func (c *Conf) Get() string {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.val // ok: the read side is enough to read
}

func (c *Conf) Bump() {
	c.mu.RLock()
	c.n++ // ok here: a write under a read lock is another code
	c.mu.RUnlock()
}

func (c *Conf) Len() int { return len(c.val) } // want `Conf.val is read without c.mu`

type guarded struct {
	sync.Locker
	n int
}

func (g *guarded) Inc() {
	g.Locker.Lock()
	g.n++
	g.Locker.Unlock()
}

func (g *guarded) Dec() {
	g.Lock()
	g.n--
	g.Unlock()
}

func (g *guarded) N() int { return g.n } // want `guarded.n is read without g.Locker`
