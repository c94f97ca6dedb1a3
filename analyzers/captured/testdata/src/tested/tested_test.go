package tested

import (
	"context"
	"testing"
	"time"
)

// What the target signals is what the test counts on.
func TestNotSignalled(t *testing.T) {
	target := NewTarget()
	ready := target.Subscribe(2)
	called := 0
	go func() {
		<-ready
		called = 7 // a lead
	}()
	target.Signal(1)
	time.Sleep(time.Millisecond)
	println(called)
}

// All that orders this is in the test.
func TestOwnChannel(t *testing.T) {
	ready := make(chan bool)
	calls := 0
	go func() {
		<-ready
		calls = 7 // want `variable calls is shared`
	}()
	close(ready)
	time.Sleep(time.Millisecond)
	println(calls)
}

// A test that passes has not seen the write.
func TestUnwanted(t *testing.T) {
	count, set, late := 0, 0, 0
	Later(func() { count++ }) // a lead
	if count != 0 {
		t.Errorf("called %d times", count)
	}
	Later(func() { set++ }) // a lead: it may wait for the goroutine, which it starts
	if set != 1 {
		t.Errorf("called %d times", set)
	}
	go func() { late++ }() // want `variable late is shared`
	if late != 1 {
		t.Errorf("called %d times", late)
	}
}

// The code that is tested waits for what the goroutine does.
func TestFuture(t *testing.T) {
	future := NewFuture()
	future.Wait(context.Background())
	future = NewFuture()
	go func() {
		future.Answer = 1 // a lead, since the variable is assigned again
		future.Done <- true
	}()
	future.Wait(context.Background())
	future = NewFuture()
}

// Each of the goroutines writes.
func TestSiblings(t *testing.T) {
	target := NewTarget()
	var last uint64
	for i := range uint64(3) {
		ready := target.Subscribe(i)
		go func() {
			<-ready
			last = i // want `variable last is shared`
		}()
		target.Signal(i)
	}
	println(last)
}

func TestStopped(t *testing.T) {
	done := make(chan int, 2)
	x, y := 5, 5
	timer := time.AfterFunc(time.Hour, func() { done <- x })
	if timer.Stop() {
		x = 6 // ok: the function has not run
	}
	other := time.AfterFunc(time.Hour, func() { done <- y }) // want `variable y is shared`
	if !other.Stop() {
		y = 6
	}
	println(x, y)
}
