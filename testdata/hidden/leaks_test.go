package hidden

import (
	"context"
	"sync"
	"testing"
	"time"
)

// Sender: the receiver has gone when the answer comes.
func TestLeakSender(*testing.T) {
	ch := make(chan int)
	go func() {
		time.Sleep(3 * time.Millisecond)
		ch <- 1
	}()
	select {
	case <-ch:
	case <-time.After(time.Millisecond):
	}
}

// Receiver: nobody closes the channel.
func TestLeakReceiver(*testing.T) {
	jobs := make(chan int)
	go func() {
		for range jobs {
		}
	}()
	jobs <- 1
}

// Select: neither the job nor the end ever comes.
func TestLeakSelect(*testing.T) {
	jobs, quit := make(chan int), make(chan bool)
	go func() {
		for {
			select {
			case <-jobs:
			case <-quit:
				return
			}
		}
	}()
	jobs <- 1
}

// WaitGroup: a worker that fails does not count down.
func TestLeakWaitGroup(*testing.T) {
	var wg sync.WaitGroup
	wg.Add(2)
	for i := range 2 {
		go func() {
			if i == 1 {
				return
			}
			wg.Done()
		}()
	}
	go wg.Wait()
}

// Cond: the signal comes before the wait.
func TestLeakCond(*testing.T) {
	var mu sync.Mutex
	c := sync.NewCond(&mu)
	c.Signal()
	go func() {
		mu.Lock()
		defer mu.Unlock()
		c.Wait()
	}()
}

// Context: the goroutine waits for the work alone, not for the end of its context.
func TestLeakContext(*testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	work := make(chan int)
	go func() {
		_ = ctx
		<-work
	}()
	cancel()
}

// Second error: two workers send an error, and one is received.
func TestLeakSecondError(*testing.T) {
	errs := make(chan error)
	for range 2 {
		go func() { errs <- context.Canceled }()
	}
	<-errs
}

// Held lock: the goroutine that returns early keeps the lock, the next one waits for ever.
func TestLeakLock(*testing.T) {
	var mu sync.Mutex
	mu.Lock()
	go func() {
		mu.Lock()
		mu.Unlock()
	}()
}

// Clean: the channel is closed, the goroutine is waited for.
func TestCleanWorker(*testing.T) {
	jobs, done := make(chan int), make(chan bool)
	go func() {
		for range jobs {
		}
		close(done)
	}()
	jobs <- 1
	close(jobs)
	<-done
}
