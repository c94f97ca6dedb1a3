package scopes

import (
	"sync"
	"testing"
	"time"
)

// A way through the goroutine keeps the lock.
type box struct {
	mu sync.Mutex
	ch chan int
}

func (b *box) take() {
	b.mu.Lock()
	select {
	case <-b.ch:
	case <-time.After(time.Second):
		return // want `IL3004`
	}
	b.mu.Unlock()
}

func (b *box) put() {
	b.mu.Lock() // want `IL3004: lock of box.mu may wait for ever: The lock is held since scopes_test.go:16 by a goroutine that has ended`
	b.mu.Unlock()
}

func TestBox(t *testing.T) {
	b := &box{ch: make(chan int, 1)}
	b.ch <- 1
	done := make(chan struct{})
	go func() {
		defer close(done)
		b.take()
	}()
	<-done
	b.put()
}

// Released on all ways.
type crate struct {
	mu sync.Mutex
	ch chan int
}

func (b *crate) take() {
	b.mu.Lock()
	defer b.mu.Unlock()
	select {
	case <-b.ch:
	case <-time.After(time.Second):
		return
	}
}

func (b *crate) put() {
	b.mu.Lock()
	b.mu.Unlock()
}

func TestCrate(t *testing.T) {
	b := &crate{ch: make(chan int, 1)}
	b.ch <- 1
	done := make(chan struct{})
	go func() {
		defer close(done)
		b.take()
	}()
	<-done
	b.put()
}
