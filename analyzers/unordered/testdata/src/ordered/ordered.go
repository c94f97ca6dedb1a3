// Package ordered has one order a function; nothing is wrong.
package ordered

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

type T struct {
	mu    sync.Mutex
	n     int
	ready atomic.Bool
	done  chan bool
	items map[string]int
	on    bool
}

func Channel(t *T) {
	go func() {
		t.n++
		t.done <- true
	}()
	<-t.done
	t.n++
}

func Group(t *T) {
	var wg sync.WaitGroup
	wg.Add(1)
	go func() {
		defer wg.Done()
		t.n++
	}()
	wg.Wait()
	t.n++
}

// Add of a negative number is Done.
func Negative(t *T) {
	var wg sync.WaitGroup
	wg.Add(1)
	go func() {
		t.n++
		wg.Add(-1)
	}()
	wg.Wait()
	t.n++
}

func Close(t *T) {
	done := make(chan struct{})
	go func() {
		t.n++
		close(done)
	}()
	<-done
	t.n++
}

// The channel has no buffer, so that the send returns after the receive.
func Receipt(t *T) {
	ask := make(chan bool)
	go func() {
		t.n++
		<-ask
	}()
	ask <- true
	t.n++
}

// A goroutine wakes the one that awaits the condition.
func Condition(t *T) {
	c := sync.NewCond(&sync.Mutex{})
	c.L.Lock()
	go func() {
		t.n++
		c.Broadcast()
	}()
	c.Wait()
	c.L.Unlock()
	t.n++
}

// Wait returns when the goroutine has ended.
func Bubble(t *testing.T, v *T) {
	synctest.Test(t, func(*testing.T) {
		go func() { v.n++ }()
		synctest.Wait()
		v.n++
	})
}

// A goroutine stores a flag by a swap, and the other waits until it shows.
func Poll(t *T) {
	var ready atomic.Bool
	go func() {
		t.n++
		ready.Swap(true)
	}()
	for !ready.Load() {
		time.Sleep(time.Millisecond)
	}
	t.n++
}

func Loop(t *T) {
	done := make(chan bool)
	for range 1 {
		go func() { t.n++; done <- true }()
		<-done
	}
	for range 2 {
		go t.locked()
	}
	t.locked()
}

func (t *T) locked() {
	t.mu.Lock()
	t.n++
	t.mu.Unlock()
}

// A flag that is read atomically decides.
func Flag(t *T) {
	go func() {
		t.n = 1
		t.ready.Store(true)
	}()
	for !t.ready.Load() {
		time.Sleep(time.Millisecond)
	}
	t.n = 2
}

func Once(t *T) {
	var once sync.Once
	go once.Do(func() { t.n = 1 })
	once.Do(func() { t.n = 1 })
	t.n = 2
}

// The lock is released by the goroutine.
func Handed(t *T) {
	t.mu.Lock()
	go func() {
		defer t.mu.Unlock()
		t.n++
	}()
}

func Unknown(ctx context.Context, t *T, wait func()) {
	go func() {
		t.n++
		wait()
	}()
	<-ctx.Done()
	t.n++
}

// What was swapped out is the only one that has it.
func Swap(t *T) {
	go func() {
		t.mu.Lock()
		items := t.items
		t.items = nil
		t.mu.Unlock()
		for range items {
		}
	}()
	t.mu.Lock()
	t.items["a"]++
	t.mu.Unlock()
}

// A flag that is set before the start decides who may write.
func State(t *T) {
	t.on = true
	go func() { t.n++ }()
	if !t.on {
		t.n++
	}
}

// Each round has an object of its own.
func Each() {
	for range 3 {
		t := &T{}
		go func() { t.n++ }()
	}
}

// The callers of the function hold the lock.
func Callers(t *T) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.schedule()
}

func (t *T) schedule() {
	time.AfterFunc(time.Second, t.locked)
	t.n = 0
}
