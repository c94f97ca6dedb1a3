// Package cross runs functions of other packages.
package cross

import "sync"

// Go runs f in a goroutine.
func Go(f func()) { go f() }

// Run runs f and returns when it is done.
func Run(f func()) { f() }

// Mutex runs functions under its lock.
type Mutex struct{ mu sync.Mutex }

// Do runs f under the lock.
func (m *Mutex) Do(f func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f()
}

// Late runs f behind the lock.
func (m *Mutex) Late(f func()) {
	m.mu.Lock()
	m.mu.Unlock()
	f()
}

// Idle neither calls nor waits.
func Idle() {}
