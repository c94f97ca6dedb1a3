// Package features orders accesses, or does not.
package features

import (
	"context"
	"sync"
	"time"
)

type T struct {
	mu   sync.RWMutex
	n    int
	done chan bool
	p    *int
}

func plain(t *T) {
	go func() {
		t.n = 1 // = t.n write with starter read
	}()
	println(t.n)
}

func received(t *T) {
	go func() {
		t.n = 1 // = ordered
		t.done <- true
		t.n = 2 // = t.n write with starter read
	}()
	<-t.done
	println(t.n)
}

func oneWay(t *T, early bool) {
	go func() {
		t.n = 1 // = t.n write with starter write
		close(t.done)
	}()
	if !early {
		<-t.done
	}
	t.n = 2
}

func counted(t *T) {
	for range 3 {
		go func() {
			t.n = 1 // = t.n write with itself write
			t.done <- true
		}()
	}
	for range 3 {
		<-t.done
	}
	println(t.n)
}

func started(t *T) {
	go func() {
		<-t.done
		t.n = 1 // = ordered
	}()
	t.n = 2
	t.done <- true
}

func late(t *T) {
	go func() {
		t.n = 1 // = t.n write with starter write
		<-t.done
	}()
	t.n = 2
	close(t.done)
}

func siblings(t *T) {
	var wg sync.WaitGroup
	wg.Go(func() { t.n = 1 }) // = t.n write with sibling write
	wg.Go(func() { t.n = 2 })
	wg.Wait()
	t.n = 3
}

func readers(t *T) {
	go func() {
		t.mu.RLock()
		t.n = 1 // = t.n write with starter read
		t.mu.RUnlock()
	}()
	t.mu.RLock()
	println(t.n)
	t.mu.RUnlock()
}

func slept(t *T) {
	go t.set()
	time.Sleep(time.Second)
	t.n = 2
}

func (t *T) set() {
	t.n = 1 // = t.n write with starter write
}

func nested(t *T) {
	var wg sync.WaitGroup
	wg.Add(1)
	go func() {
		defer wg.Done()
		go func() {
			t.n = 1 // = t.n write with starter write
		}()
	}()
	wg.Wait()
	t.n = 2
}

func deferred(t *T) {
	defer func() { t.n = 2 }()
	defer func() { <-t.done }()
	go func() {
		t.n = 1 // = ordered
		close(t.done)
	}()
}

func canceledLater(t *T) {
	ctx, cancel := context.WithCancel(context.Background())
	context.AfterFunc(ctx, func() {
		t.n = 1 // = ordered
	})
	t.n = 2
	cancel()
}

func canceledBefore(t *T) {
	ctx, cancel := context.WithCancel(context.Background())
	context.AfterFunc(ctx, func() {
		t.n = 1 // = t.n write with starter write
	})
	cancel()
	t.n = 2
}

func (t *T) fill() {
	if t.p == nil {
		t.p = new(int)
		go func() {
			println(t.p) // = ordered
		}()
	}
}

func filledTwice(t *T) {
	t.fill()
	t.fill()
}

func (t *T) refill() {
	if t.p == nil {
		t.p = new(int)
		go func() {
			println(t.p) // = t.p read with starter write
		}()
	}
}

func refilled(t *T) {
	t.refill()
	t.p = nil
	t.refill()
}

func (t *T) waitEither(other chan bool) int {
	if other == nil {
		<-t.done
	} else {
		select {
		case <-other:
			return 0
		case <-t.done:
		}
	}
	return t.n
}

func waitsEither(t *T) {
	go func() {
		t.n = 1 // = ordered
		close(t.done)
	}()
	println(t.waitEither(nil))
}

func (t *T) waitEitherOrNot(other chan bool) int {
	if other == nil {
		<-t.done
	} else {
		select {
		case <-other:
		case <-t.done:
		}
	}
	return t.n
}

func waitsEitherOrNot(t *T) {
	go func() {
		t.n = 1 // = t.n write with starter read
		close(t.done)
	}()
	println(t.waitEitherOrNot(nil))
}
