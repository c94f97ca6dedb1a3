package scopes

import (
	"sync"
	"testing"
)

// A reader that reads again while a writer waits.
type registry struct {
	mu    sync.RWMutex
	names []string
	self  *registry
}

func (r *registry) has(name string) bool {
	r.mu.RLock() // want `IL3003: read-lock of registry.mu may wait for ever: The goroutine holds the lock since scopes_test.go:27, and a writer waits in between`
	defer r.mu.RUnlock()
	for _, n := range r.names {
		if n == name {
			return true
		}
	}
	return false
}

func (r *registry) hasBoth(a, b string) bool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.self.has(a) && r.self.has(b)
}

func (r *registry) add(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.names = append(r.names, name)
}

func TestReaders(t *testing.T) {
	r := &registry{}
	r.self = r
	done := make(chan struct{})
	go func() {
		r.add("a")
		close(done)
	}()
	r.hasBoth("a", "b")
	<-done
}

// Two readers and a writer, each once.
type table struct {
	mu sync.RWMutex
	n  int
}

func (t *table) get() int {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.n
}

func (t *table) set(n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.n = n
}

func TestTable(t *testing.T) {
	tab := &table{}
	var wg sync.WaitGroup
	wg.Add(2)
	go func() { defer wg.Done(); tab.get() }()
	go func() { defer wg.Done(); tab.set(1) }()
	tab.get()
	wg.Wait()
}
