// Package testusesendclosed has a channel that is found open, and sent on after it may have been closed. IL2002.
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

// Send hands on a number, unless the feed is closed.
func (f *Feed) Send(n int) bool {
	f.mu.RLock()
	closed := f.closed // want IL2002 entry
	f.mu.RUnlock()
	if closed {
		return false
	}
	f.out <- n // want IL2002 end
	return true
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
