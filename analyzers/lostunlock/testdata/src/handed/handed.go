// Package handed: functions that are meant to return with a lock held.
package handed

import (
	"errors"
	"sync"
)

type T struct {
	mu, other sync.Mutex
	closed    bool
	n         int
}

func (t *T) checkout() error { // ok: locked when it succeeds
	t.mu.Lock()
	if t.closed {
		t.mu.Unlock()
		return errors.New("closed")
	}
	return nil
}

func (t *T) get() *T { // ok: locked when there is something
	t.mu.Lock()
	if t.closed {
		t.mu.Unlock()
		return nil
	}
	return t
}

func (t *T) Use() error {
	if err := t.checkout(); err != nil {
		return err
	}
	t.n++
	t.mu.Unlock()
	return nil
}

func (t *T) LockIfOpen() { // ok: the name says so
	t.mu.Lock()
	if t.closed {
		t.mu.Unlock()
		return
	}
}

func (t *T) begun(early bool) (done func()) { // ok: the closure unlocks
	t.mu.Lock()
	if early {
		t.mu.Unlock()
		return nil
	}
	return func() { t.mu.Unlock() }
}

func (t *T) Started(early bool) { // ok: the goroutine unlocks
	t.mu.Lock()
	if early {
		t.mu.Unlock()
		return
	}
	go func() {
		t.n++
		t.mu.Unlock()
	}()
}

func (t *T) finish() { t.other.Unlock() }

func (t *T) Phase(early bool) { // ok: another function unlocks it
	t.other.Lock()
	if early {
		t.other.Unlock()
		return
	}
}

// pass is called with the lock held.
func (t *T) pass(early bool) { // ok: the caller's lock is given back
	if early {
		return
	}
	t.mu.Unlock()
	t.n++
	t.mu.Lock()
}

func (t *T) await(id int) (n int, lock *sync.Mutex, err error) { // ok: the caller gets the lock, to release it
	for {
		t.mu.Lock()
		if t.n < 0 {
			err = errors.New("closed")
			t.mu.Unlock()
			break
		}
		if t.n == id {
			n, lock = t.n, &t.mu
			break
		}
		t.mu.Unlock()
	}
	return
}
