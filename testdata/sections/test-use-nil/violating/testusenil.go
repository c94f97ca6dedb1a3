// Package testusenil has a pointer that is tested, and followed under the lock taken anew. IL2002.
package testusenil

import "sync"

type link struct{ up bool }

// Line is connected or not.
type Line struct {
	mu   sync.Mutex
	link *link
}

// Connect makes a link.
func (l *Line) Connect() {
	l.mu.Lock()
	l.link = &link{up: true}
	l.mu.Unlock()
}

// Hangup drops it.
func (l *Line) Hangup() {
	l.mu.Lock()
	l.link = nil
	l.mu.Unlock()
}

// Up reports whether there is a link and it is up.
func (l *Line) Up() bool {
	l.mu.Lock()
	connected := l.link != nil // want IL2002 entry
	l.mu.Unlock()
	if !connected {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.link.up // want IL2002 end
}
