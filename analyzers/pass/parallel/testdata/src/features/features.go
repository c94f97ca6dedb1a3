// Package features orders accesses, or does not.
package features

import (
	"sync"
	"time"
)

type T struct {
	mu   sync.RWMutex
	n    int
	done chan bool
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
