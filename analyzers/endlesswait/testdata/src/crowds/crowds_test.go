// Package crowds starts more goroutines than are followed through all interleavings.
package crowds

import (
	"sync"
	"testing"
)

type crowd struct {
	mu sync.RWMutex
	n  int
}

func (c *crowd) get() int {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.n
}

func TestOneTooFew(t *testing.T) {
	c := &crowd{}
	done := make(chan bool)
	for i := 0; i < 50; i++ {
		go func() {
			if i%2 == 0 {
				c.get()
			}
			done <- true // want `send of done may wait for ever`
		}()
	}
	for i := 0; i < 49; i++ {
		<-done
	}
}

func TestAll(t *testing.T) {
	c := &crowd{}
	done := make(chan bool)
	for i := 0; i < 50; i++ {
		go func() {
			c.get()
			done <- true // ok
		}()
	}
	for i := 0; i < 50; i++ {
		<-done
	}
}

func TestBuffered(t *testing.T) {
	done := make(chan int, 20)
	for i := range 20 {
		go func() { done <- i }() // ok: the buffer takes it
	}
	for range 19 {
		<-done
	}
}

func TestCountedTwice(t *testing.T) {
	var wg sync.WaitGroup
	wg.Add(31)
	for range 30 {
		go func() { wg.Done() }()
	}
	wg.Wait() // want `wait of wg may wait for ever`
}

func TestCounted(t *testing.T) {
	var wg sync.WaitGroup
	sem := make(chan bool, 3)
	for range 30 {
		wg.Add(1)
		sem <- true
		go func() {
			defer func() { <-sem; wg.Done() }()
		}()
	}
	wg.Wait() // ok
}

// Workers end when the jobs do.
func TestWorkers(t *testing.T) {
	jobs, out := make(chan int), make(chan int)
	var wg sync.WaitGroup
	for range 16 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for j := range jobs {
				out <- j // ok
			}
		}()
	}
	go func() {
		for j := range 20 {
			jobs <- j
		}
		close(jobs)
		wg.Wait()
		close(out)
	}()
	for range out {
	}
}
