package channels

import (
	"context"
	"errors"
	"sync"
	"time"
)

// The receiver may have left through the other case.
func leftByContext(ctx context.Context, get func() string) (string, error) {
	ch := make(chan string)
	go func() {
		ch <- get() // want `IL4003: send of ch may wait for ever: In an order that the check has tried, nothing ends this wait: leftByContext has returned at channels.go:20`
	}()
	select {
	case s := <-ch:
		return s, nil
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

func roomForOne(ctx context.Context, get func() string) (string, error) {
	ch := make(chan string, 1)
	go func() { ch <- get() }()
	select {
	case s := <-ch:
		return s, nil
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

func leftByTimeout(get func() int) int {
	ch := make(chan int)
	go func() {
		ch <- get() // want `IL4003`
	}()
	select {
	case v := <-ch:
		return v
	case <-time.After(time.Second):
		return 0
	}
}

func senderLeavesToo(get func() int) int {
	ch := make(chan int)
	done := make(chan struct{})
	defer close(done)
	go func() {
		select {
		case ch <- get():
		case <-done:
		}
	}()
	select {
	case v := <-ch:
		return v
	case <-time.After(time.Second):
		return 0
	}
}

// An error returns before the only receive.
func earlyReturn(f func() error) error {
	done := make(chan struct{})
	go func() {
		done <- struct{}{} // want `IL4003`
	}()
	if err := f(); err != nil {
		return err
	}
	<-done
	return nil
}

// The goroutine leaves before its only send.
func earlyReturnOfSender(f func() error) {
	done := make(chan struct{})
	go func() {
		if err := f(); err != nil {
			return
		}
		done <- struct{}{}
	}()
	<-done // want `IL4003`
}

func closesAnyway(f func() error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := f(); err != nil {
			return
		}
	}()
	<-done
}

// Each item is sent, the first one received. That there may be no item is a guess.
func firstOf(items []int, f func(int) int) int {
	ch := make(chan int)
	for _, i := range items {
		go func() {
			ch <- f(i) // want `IL4003`
		}()
	}
	return <-ch
}

func allOf(items []int, f func(int) int) (sum int) {
	ch := make(chan int)
	for _, i := range items {
		go func() { ch <- f(i) }()
	}
	for range items {
		sum += <-ch
	}
	return sum
}

func roomForAll(items []int, f func(int) int) int {
	if len(items) == 0 {
		return 0
	}
	ch := make(chan int, len(items))
	for _, i := range items {
		go func() { ch <- f(i) }()
	}
	return <-ch
}

// Nobody closes the channel.
func ranges(items []int) {
	ch := make(chan int)
	var wg sync.WaitGroup
	wg.Add(1)
	go func() {
		defer wg.Done()
		for range ch { // want `IL4003`
		}
	}()
	for _, i := range items {
		ch <- i
	}
	wg.Wait()
}

func rangesClosed(items []int) {
	ch := make(chan int)
	var wg sync.WaitGroup
	wg.Add(1)
	go func() {
		defer wg.Done()
		for range ch {
		}
	}()
	for _, i := range items {
		ch <- i
	}
	close(ch)
	wg.Wait()
}

// The loop is left while its producer goes on.
func search(items []int, want int) bool {
	ch := make(chan int)
	go func() {
		defer close(ch)
		for _, i := range items {
			ch <- i // want `IL4003`
		}
	}()
	for i := range ch {
		if i == want {
			return true
		}
	}
	return false
}

// A channel that nobody has made.
func never() {
	var ch chan int
	go func() {
		ch <- 1 // want `IL4003`
	}()
}

// Two that wait for each other.
func crossed() {
	a, b := make(chan int), make(chan int)
	go func() {
		a <- 1 // want `IL4003`
		<-b
	}()
	b <- 1
	<-a
}

func inOrder() {
	a, b := make(chan int), make(chan int)
	go func() {
		a <- 1
		<-b
	}()
	<-a
	b <- 1
}

// A result is handed to the caller: who receives it is not known.
func generator(n int) <-chan int {
	ch := make(chan int)
	go func() {
		defer close(ch)
		for i := range n {
			ch <- i
		}
	}()
	return ch
}

// A worker that ends with the function.
func worker(ctx context.Context, work <-chan int) {
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	done := make(chan struct{})
	go func() {
		for {
			select {
			case <-ticker.C:
			case <-done:
				return
			}
		}
	}()
	for range work {
	}
	close(done)
}

// A ticker goes on for ever, and so does the worker, but who waits for it hangs.
func daemon() {
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		t := time.NewTicker(time.Second)
		for {
			select {
			case <-t.C:
			case <-stop:
			}
		}
	}()
	close(stop)
	<-stopped // want `IL4003`
}

// Who works at every tick waits for nothing else.
func ticks(work func()) {
	t := time.NewTicker(time.Second)
	go func() {
		for range t.C {
			work()
		}
	}()
}

// A new error is not nil: with one the function waits for stop, and without one for the message.
func newError(f func() bool, stop chan int) error {
	ch := make(chan int)
	var err error
	if f() {
		err = errors.New("off")
	} else {
		go func() { ch <- 1 }()
	}
	if err != nil {
		return err
	}
	<-ch
	return nil
}

// An error of somebody else may be nil.
func otherError(f func() error, other func() bool) error {
	ch := make(chan int)
	if other() {
		go func() { ch <- 1 }() // want `IL4003`
	}
	if err := f(); err != nil {
		return err
	}
	if other() {
		<-ch
	}
	return nil
}

// Waits for ever on purpose.
func sleeps(f func()) {
	ch := make(chan int)
	go func() {
		f()
		ch <- 1
		select {}
	}()
	<-ch
}

// Each goroutine sends twice, and nobody takes what it sends second.
func sentTwice(get func(int) int) {
	ch := make(chan int)
	done := make(chan bool)
	for i := 0; i < 3; i++ {
		go func() {
			ch <- get(i)
			done <- true // want `nothing ends this wait: sentTwice waits at channels.go:\d+, and 2 goroutines started at channels.go:\d+ also wait here.`
		}()
	}
	<-ch
	<-ch
	<-ch
	<-ch
}
