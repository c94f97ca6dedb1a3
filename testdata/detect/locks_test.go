package detect

import (
	"sync/atomic"
	"testing"
)

// Locked writer, unlocked reader: the reader forgot the lock.
func TestRaceLockedWriter(t *testing.T) {
	c := new(counter)
	both(
		func() {
			for range 20 {
				c.mu.Lock()
				c.n++
				c.mu.Unlock()
			}
		},
		func() { t.Log(c.n) })
}

func TestNoRaceLockedWriter(t *testing.T) {
	c := new(counter)
	both(
		func() {
			for range 20 {
				c.mu.Lock()
				c.n++
				c.mu.Unlock()
			}
		},
		func() { c.mu.Lock(); n := c.n; c.mu.Unlock(); t.Log(n) })
}

// Hidden by lock order: the two sides take a lock one after the other, which mostly orders them by accident.
func TestRaceHiddenByLocks(t *testing.T) {
	c := new(counter)
	level := new(int)
	both(
		func() { *level = 1; c.mu.Lock(); c.n++; c.mu.Unlock() },
		func() {
			work() // the usual order
			c.mu.Lock()
			c.n++
			c.mu.Unlock()
			*level = 2
		})
}

func TestNoRaceHiddenByLocks(t *testing.T) {
	c := new(counter)
	level := new(int)
	both(
		func() { c.mu.Lock(); c.n++; *level = 1; c.mu.Unlock() },
		func() {
			work()
			c.mu.Lock()
			c.n++
			*level = 2
			c.mu.Unlock()
		})
}

// Atomic against plain: a counter is added to atomically and read plainly.
func TestRaceAtomicPlain(t *testing.T) {
	n := new(int64)
	both(
		func() { atomic.AddInt64(n, 1) },
		func() { t.Log(*n) })
}

func TestNoRaceAtomicPlain(t *testing.T) {
	n := new(int64)
	both(
		func() { atomic.AddInt64(n, 1) },
		func() { t.Log(atomic.LoadInt64(n)) })
}
