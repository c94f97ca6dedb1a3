package scopes

import (
	"sync"
	"testing"
)

// Two goroutines may both find it open.
type stopper struct{ done chan struct{} }

func (s *stopper) stop() {
	select {
	case <-s.done:
	default:
		close(s.done) // want `IL4002: close of stopper.done may find it closed: The channel may be closed before, here as well, and this panics: close of closed channel`
	}
}

func TestStop(t *testing.T) {
	s := &stopper{make(chan struct{})}
	var wg sync.WaitGroup
	wg.Add(1)
	go func() {
		defer wg.Done()
		s.stop()
	}()
	s.stop()
	wg.Wait()
}

// One of them closes it.
type onceStopper struct {
	done chan struct{}
	once sync.Once
}

func (s *onceStopper) stop() { s.once.Do(func() { close(s.done) }) }

func TestStopOnce(t *testing.T) {
	s := &onceStopper{done: make(chan struct{})}
	var wg sync.WaitGroup
	wg.Add(1)
	go func() {
		defer wg.Done()
		s.stop()
	}()
	s.stop()
	wg.Wait()
}

// A sender that nobody has waited for.
func results(items []int) {
	ch := make(chan int, len(items))
	for _, i := range items {
		go func() {
			ch <- i // want `IL4002: send of ch may find it closed: The channel may be closed before, at scopes_test.go:59, and this panics: send on closed channel`
		}()
	}
	close(ch)
}

func resultsWaited(items []int) {
	ch := make(chan int, len(items))
	var wg sync.WaitGroup
	for _, i := range items {
		wg.Add(1)
		go func() {
			defer wg.Done()
			ch <- i
		}()
	}
	wg.Wait()
	close(ch)
}

// As many are counted as the two loops start: that they fit is likely, and a lead is not printed.
func resultsOfTwo(items, more map[string]int) (sum int) {
	size := len(items) + len(more)
	ch := make(chan int, size)
	var wg sync.WaitGroup
	wg.Add(size)
	for _, i := range items {
		go func() {
			defer wg.Done()
			ch <- i
		}()
	}
	for _, i := range more {
		go func() {
			defer wg.Done()
			ch <- i
		}()
	}
	go func() {
		wg.Wait()
		close(ch)
	}()
	for i := range ch {
		sum += i
	}
	return sum
}

// One is counted too few, whatever the items are.
func resultsOfOneMore(items map[string]int) (sum int) {
	ch := make(chan int)
	var wg sync.WaitGroup
	for _, i := range items {
		wg.Add(1)
		go func() {
			defer wg.Done()
			ch <- i
		}()
	}
	go func() {
		ch <- 1 // want `IL4002: send of ch may find it closed: The channel may be closed before, at scopes_test.go:120, and this panics: send on closed channel`
	}()
	go func() {
		wg.Wait()
		close(ch)
	}()
	for i := range ch {
		sum += i
	}
	return sum
}
