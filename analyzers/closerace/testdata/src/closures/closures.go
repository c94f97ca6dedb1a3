// Package closures closes and sends in function literals.
package closures

import "sync"

type Feed struct {
	mu    sync.Mutex
	items chan int
	safe  chan int
	done  chan struct{}
}

func (f *Feed) Send(v int) {
	func() {
		f.items <- v // want `Feed.items may be sent on when it is closed`
	}()
}

func (f *Feed) Close() {
	func() { close(f.items) }()
}

func (f *Feed) SendLocked(v int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	func() { f.safe <- v }() // ok: both hold the lock
}

func (f *Feed) CloseLocked() {
	f.mu.Lock()
	defer f.mu.Unlock()
	close(f.safe)
}
