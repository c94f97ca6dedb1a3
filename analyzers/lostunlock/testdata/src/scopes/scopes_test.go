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
	b.mu.Lock() // waits for ever then: the same fault, reported where it is
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

// The goroutine that keeps the lock asks for it again.
func TestBoxTwice(t *testing.T) {
	b := &box{ch: make(chan int)}
	b.take()
	b.put()
}

// A lock of the test alone, which nobody else can name.
func TestLocal(t *testing.T) {
	var mu sync.Mutex
	ch, done := make(chan int, 1), make(chan struct{})
	ch <- 1
	go func() {
		defer close(done)
		mu.Lock() // want `IL3004: mu may stay locked: A goroutine takes the lock and ends; another one waits for it at scopes_test.go:64`
		select {
		case <-ch:
			mu.Unlock()
		case <-time.After(time.Second):
		}
	}()
	<-done
	mu.Lock()
	mu.Unlock()
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
