// Package version has updates that compare a version before they store.
package version

import "sync"

type Cell struct {
	mu       sync.Mutex
	val, ver int
	retries  int
}

func (c *Cell) Update(f func(int) int) {
	for {
		c.mu.Lock()
		v, ver := c.val, c.ver
		c.mu.Unlock()
		n := f(v)
		c.mu.Lock()
		if c.ver == ver {
			c.val = n // ok: whoever changes val changes ver
			c.ver++
			c.mu.Unlock()
			return
		}
		c.retries++
		c.mu.Unlock()
	}
}

func (c *Cell) read() (int, int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.val, c.ver
}

func (c *Cell) commit(n, ver int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ver != ver {
		return false
	}
	c.val = n
	c.ver++
	return true
}

func (c *Cell) Inc() {
	for {
		v, ver := c.read()
		if c.commit(v+1, ver) { // ok
			return
		}
	}
}

// Loose compares a version that not all writers change.
type Loose struct {
	mu       sync.Mutex
	val, ver int
}

func (l *Loose) Reset(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.val = n
}

func (l *Loose) Update(f func(int) int) {
	l.mu.Lock()
	v, ver := l.val, l.ver
	l.mu.Unlock()
	n := f(v)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ver == ver {
		l.val = n // want `update of Loose.val is not one step`
		l.ver++
	}
}

// Late compares a version that it has read after the value.
type Late struct {
	mu       sync.Mutex
	val, ver int
}

func (l *Late) Update(f func(int) int) {
	l.mu.Lock()
	v := l.val
	l.mu.Unlock()
	l.mu.Lock()
	ver := l.ver
	l.mu.Unlock()
	n := f(v)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ver == ver {
		l.val = n // want `update of Late.val is not one step`
		l.ver++
	}
}

// Wrong stores where the version is another one.
type Wrong struct {
	mu       sync.Mutex
	val, ver int
}

func (w *Wrong) Update(f func(int) int) {
	w.mu.Lock()
	v, ver := w.val, w.ver
	w.mu.Unlock()
	n := f(v)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ver != ver {
		w.val = n // want `update of Wrong.val is not one step`
		w.ver++
	}
}
