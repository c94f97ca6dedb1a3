// Package testusesendclosed has it mended: senders hold the read lock.
package testusesendclosed

import "sync"

// Feed hands on numbers until it is closed.
type Feed struct {
	mu     sync.RWMutex
	closed bool
	out    chan int
}

// New makes a feed that holds n numbers.
func New(n int) *Feed { return &Feed{out: make(chan int, n)} }

// Send hands on a number, unless the feed is closed or full.
func (f *Feed) Send(n int) bool {
	f.mu.RLock()
	defer f.mu.RUnlock()
	if f.closed {
		return false
	}
	select {
	case f.out <- n:
		return true
	default:
		return false
	}
}

// Close ends the feed.
func (f *Feed) Close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.closed {
		f.closed = true
		close(f.out)
	}
}
