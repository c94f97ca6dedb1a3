// Package siblings has goroutines of one function that use its variables.
package siblings

import (
	"sync"
	"time"
)

func Two() int {
	var wg sync.WaitGroup
	n := 0
	wg.Add(2)
	go func() {
		defer wg.Done()
		n = 1 // want `variable n is shared .* so does the goroutine started at line 17`
	}()
	go func() {
		defer wg.Done()
		println(n)
	}()
	wg.Wait()
	return n
}

func Chained() int {
	first, second := make(chan bool), make(chan bool)
	n := 0
	go func() {
		n = 1 // ok: the other waits
		close(first)
	}()
	go func() {
		<-first
		n++
		close(second)
	}()
	<-second
	return n
}

func Locks() int {
	var a, b sync.Mutex
	n := 0
	go func() {
		a.Lock()
		n++ // want `variable n is shared`
		a.Unlock()
	}()
	b.Lock()
	defer b.Unlock()
	return n
}

func Early() int {
	var wg sync.WaitGroup
	n := 0
	wg.Add(1)
	go func() {
		wg.Done()
		n++ // want `variable n is shared`
	}()
	wg.Wait()
	return n
}

func Timeout(work func() int) int {
	result := 0
	done := make(chan bool)
	go func() {
		result = work() // want `variable result is shared`
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(time.Second):
	}
	return result
}

func InTime(work func() int) int {
	result := 0
	done := make(chan bool)
	go func() {
		result = work() // ok
		close(done)
	}()
	select {
	case <-done:
		return result
	case <-time.After(time.Second):
		return 0
	}
}
