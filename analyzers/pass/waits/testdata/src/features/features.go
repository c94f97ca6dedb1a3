// Package features has waits of each code.
package features

import "sync"

func nobody(f func() int) int {
	ch := make(chan int)
	go func() { ch <- f() }() // = IL4003 send
	if f() == 0 {
		return 0
	}
	return <-ch
}

func forGood() {
	<-make(chan int) // = none
}

func again() {
	var mu sync.Mutex
	mu.Lock()
	mu.Lock() // = IL3002 lock and 1 more
}

func readAgain(f func()) {
	var mu sync.RWMutex
	go func() {
		mu.Lock()
		f()
		mu.Unlock()
	}()
	mu.RLock()
	mu.RLock() // = IL3003 read-lock and 2 more
	mu.RUnlock()
	mu.RUnlock()
}

func circle() {
	var a, b sync.Mutex
	go func() {
		a.Lock()
		b.Lock() // = none
		b.Unlock()
		a.Unlock()
	}()
	b.Lock()
	a.Lock() // = IL3001 lock and 3 more
	a.Unlock()
	b.Unlock()
}

type box struct {
	mu sync.Mutex
	n  int
}

func (b *box) take() {
	b.mu.Lock() // = IL3004 lock and 1 more
	if b.n > 0 {
		b.mu.Unlock()
	}
}

func takeTwice() {
	b := &box{}
	b.take()
	b.take()
}

// lock is named for what it does.
func (b *box) lock() {
	b.mu.Lock() // = IL3002 lock
}

func lockTwice() {
	b := &box{}
	b.lock()
	b.lock()
}

func underLock(f func()) {
	var mu sync.Mutex
	ch := make(chan int)
	go func() {
		mu.Lock()
		f()
		mu.Unlock()
		ch <- 1
	}()
	mu.Lock()
	<-ch // = IL3005 receive and 1 more
	mu.Unlock()
}

func closedTwice() {
	ch := make(chan int)
	close(ch)
	close(ch) // = IL4002 close and 1 more
}
