package features

import "sync"

func (t *T) Reads() int {
	t.rw.RLock()
	defer t.rw.RUnlock()
	return t.n // = t.rw (read)
}

func (t *T) Upgrades() {
	t.rw.RLock()
	n := t.n // = t.rw (read)
	t.rw.RUnlock()
	t.rw.Lock()
	t.n = n + 1 // = t.rw
	t.rw.Unlock()
}

func (t *T) ReadOrWrite(write bool) {
	if write {
		t.rw.Lock()
		defer t.rw.Unlock()
	} else {
		t.rw.RLock()
		defer t.rw.RUnlock()
	}
	println(t.n) // = t.rw (read)
}

// Missed: the lock is the read side of t.rw.
func (t *T) ByRLocker() int {
	l := t.rw.RLocker()
	l.Lock()
	defer l.Unlock()
	return t.n // = RLocker()
}

func byInterface(t *T, l sync.Locker) {
	l.Lock()
	defer l.Unlock()
	t.n++ // = l, perhaps more
}
