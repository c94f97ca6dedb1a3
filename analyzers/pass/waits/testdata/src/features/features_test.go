package features

import (
	"sync"
	"testing"
)

// A test may leave goroutines at channels, if it always does.
func TestLeaves(t *testing.T) {
	ch := make(chan int)
	go func() {
		for range ch { // = none
		}
	}()
}

// What it leaves only now and then is a fault.
func TestMayLeave(t *testing.T) {
	ch, other := make(chan int), make(chan int, 1)
	go func() { other <- 1 }()
	go func() { ch <- 1 }() // = IL4003 send
	select {
	case <-ch:
	case <-other:
	}
}

// The test itself hangs.
func TestHangs(t *testing.T) {
	var wg sync.WaitGroup
	wg.Add(1)
	wg.Wait() // = IL4003 wait
}

// A test that has failed may leave what it likes.
func TestFails(t *testing.T) {
	ch := make(chan int)
	go func() { ch <- 1 }() // = none
	if t.Name() == "" {
		t.Fatal("no name")
	}
	<-ch
}
