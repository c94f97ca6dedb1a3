package facts

import "sync"

type T struct {
	mu sync.Mutex
	rw sync.RWMutex
	n  int
}

func (t *T) Enter() { t.mu.Lock() } // want Enter:"acquires 0.mu; takes facts.T.mu"

func (t *T) Leave() { t.mu.Unlock() } // want Leave:"releases 0.mu"

func (t *T) View() { t.rw.RLock() } // want View:"read-acquires 0.rw; takes facts.T.rw"

func (t *T) Balanced() { // want Balanced:"takes facts.T.mu"
	t.mu.Lock()
	defer t.mu.Unlock()
	t.n++
}

func (t *T) Sometimes(yes bool) { // want Sometimes:"may change 0.mu; takes facts.T.mu"
	if yes {
		t.mu.Lock()
	}
}

func (t *T) Early(yes bool) bool { // want Early:"takes facts.T.mu"
	t.mu.Lock()
	if yes {
		t.mu.Unlock()
		return true
	}
	t.mu.Unlock()
	return false
}

func (t *T) Deferred() { // want Deferred:"takes facts.T.mu"
	t.mu.Lock()
	defer func() {
		t.n = 0
		t.mu.Unlock()
	}()
	t.n++
}

func (t *T) Async() { // ok: what a goroutine does is not what the call does
	go t.Enter()
}

func Plain(t *T) int { return t.n } // ok
