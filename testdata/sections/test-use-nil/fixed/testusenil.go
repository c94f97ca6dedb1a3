// Package testusenil has it mended: one critical section.
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
	defer l.mu.Unlock()
	return l.link != nil && l.link.up
}
