package tests

import (
	"sync"
	"testing"
	"time"
)

type counter struct {
	mu sync.Mutex
	n  int
}

func newCounter() *counter {
	c := &counter{}
	go c.tick()
	return c
}

func (c *counter) tick() {
	c.mu.Lock()
	c.n++ // want `counter.n is accessed by two goroutines`
	c.mu.Unlock()
}

// The goroutine was started by a callee, and sleeping orders nothing.
func TestCounter(t *testing.T) {
	c := newCounter()
	time.Sleep(time.Millisecond)
	if c.n != 1 {
		t.Fatal(c.n)
	}
}

type state struct{ on, off int }

func (s *state) start() chan bool {
	done := make(chan bool)
	go func() {
		s.on = 1
		close(done)
	}()
	return done
}

// A helper that waits.
func TestWaited(t *testing.T) {
	s := &state{}
	<-s.start()
	s.on = 2 // ok
}

// Subtests one after the other, and in parallel.
func TestSubtests(t *testing.T) {
	s := &state{}
	t.Run("a", func(t *testing.T) { s.on++ }) // ok
	t.Run("b", func(t *testing.T) {
		t.Parallel()
		s.off = 1 // want `state.off is accessed by two goroutines`
	})
	t.Run("c", func(t *testing.T) {
		t.Parallel()
		s.off = 2
	})
}

type released struct {
	mu sync.Mutex
	n  int
}

// A function that another one has made releases the lock.
func TestReleased(t *testing.T) {
	r := new(released)
	t.Run("all", func(t *testing.T) {
		for range 2 {
			t.Run("one", func(t *testing.T) {
				t.Parallel()
				func() {
					defer hold(&r.mu)()
					r.n++
				}()
			})
		}
	})
	r.n = 0
}

func hold(mu *sync.Mutex) (release func()) { mu.Lock(); return mu.Unlock }

// The goroutine starts in another file than the access is in: its file is named.
func TestHits(t *testing.T) {
	var h hits
	var wg sync.WaitGroup
	for range 2 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			h.add()
		}()
	}
	wg.Wait()
}
