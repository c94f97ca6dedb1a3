// Package loadstorecallee has an update by a getter and a setter that each lock. IL2001.
package loadstorecallee

import "sync"

// Level is a gauge.
type Level struct {
	mu sync.Mutex
	n  int
}

func (l *Level) get() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.n
}

func (l *Level) set(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.n = n
}

// Raise makes it n higher.
func (l *Level) Raise(n int) {
	now := l.get() // want IL2001 entry
	l.set(now + n) // want IL2001 end
}

// Now reports how high it is.
func (l *Level) Now() int { return l.get() }
