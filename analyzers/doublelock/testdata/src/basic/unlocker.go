package basic

import "sync"

// unlockOnce returns a function that unlocks l, however often it is called.
func unlockOnce(l sync.Locker) func() {
	var once sync.Once
	return func() { once.Do(l.Unlock) }
}

type listener struct {
	mu      sync.RWMutex
	started bool
}

func (l *listener) Serve() {
	unlock := unlockOnce(&l.mu)
	l.mu.Lock()
	defer unlock()
	l.started = true
	unlock()
	l.isStarted() // ok
}

func (l *listener) ServeLocked() {
	unlock := unlockOnce(&l.mu)
	l.mu.Lock()
	defer unlock()
	l.started = true
	l.isStarted() // want `IL3002`
}

func (l *listener) isStarted() bool {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.started
}
