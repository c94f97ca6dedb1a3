package scopes

import (
	"sync"
	"testing"
)

// Two locks of objects that a test makes, in two orders.
type ledger struct {
	mu sync.Mutex
	n  int
}

func (l *ledger) moveTo(other *ledger) {
	l.mu.Lock()
	defer l.mu.Unlock()
	other.mu.Lock() // want `IL3001: lock of ledger.mu may wait for ever: Each of the goroutines holds the lock that the next one waits for`
	defer other.mu.Unlock()
	l.n--
	other.n++
}

func TestMove(t *testing.T) {
	a, b := &ledger{}, &ledger{}
	var wg sync.WaitGroup
	wg.Add(2)
	go func() {
		defer wg.Done()
		a.moveTo(b)
	}()
	go func() {
		defer wg.Done()
		b.moveTo(a)
	}()
	wg.Wait()
}

// Both in one order.
type account struct {
	mu sync.Mutex
	n  int
}

func (l *account) moveTo(other *account) {
	l.mu.Lock()
	defer l.mu.Unlock()
	other.mu.Lock()
	defer other.mu.Unlock()
	l.n--
	other.n++
}

func TestMoveInOrder(t *testing.T) {
	a, b := &account{}, &account{}
	var wg sync.WaitGroup
	wg.Add(2)
	for range 2 {
		go func() {
			defer wg.Done()
			a.moveTo(b)
		}()
	}
	wg.Wait()
}

// The second lock is behind an interface.
type sink interface{ put(int) }

type store struct {
	mu   sync.Mutex
	hook *hook
}

type hook struct {
	mu   sync.Mutex
	next *store
}

func (s *store) put(int) {
	s.mu.Lock()
	defer s.mu.Unlock()
}

func (h *hook) put(n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	var to sink = h.next
	to.put(n) // want `IL3001`
}

func (s *store) flush() {
	s.mu.Lock()
	s.hook.mu.Lock() // want `IL3001`
	s.hook.mu.Unlock()
	s.mu.Unlock()
}

func TestInterface(t *testing.T) {
	s := &store{}
	s.hook = &hook{next: s}
	done := make(chan struct{})
	go func() {
		s.hook.put(1)
		close(done)
	}()
	s.flush()
	<-done
}
