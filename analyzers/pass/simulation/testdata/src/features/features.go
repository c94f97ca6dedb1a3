// Package features has scopes, one for each kind of thing to wait for.
package features

import (
	"context"
	"errors"
	"sync"
	"time"
)

func meet() { // = ends
	ch := make(chan int)
	go func() { ch <- 1 }()
	<-ch
}

func nobodyReceives() { // = goroutine 1 at send
	ch := make(chan int)
	go func() { ch <- 1 }()
}

func room() { // = ends
	ch := make(chan int, 1)
	go func() { ch <- 1 }()
}

func fromOutside(ch chan int) { // = ends
	ch <- 1
	<-ch
}

func handedOut(keep func(chan int)) { // = ends
	ch := make(chan int)
	keep(ch)
	<-ch
}

func eitherWay(early bool) { // = goroutine 1 at send
	ch := make(chan int)
	go func() { ch <- 1 }()
	if early {
		return
	}
	<-ch
}

func sameWayTwice(early bool) { // = ends
	ch := make(chan int)
	go func() {
		if !early {
			ch <- 1
		}
	}()
	if early {
		return
	}
	<-ch
}

func timer() { // = ends
	ch := make(chan int)
	select {
	case <-ch:
	case <-time.After(time.Second):
	}
}

func cancelled(ctx context.Context) { // = ends
	ctx, cancel := context.WithCancel(ctx)
	go func() { <-ctx.Done() }()
	cancel()
}

func notCancelled() { // = goroutine 1 at receive
	ctx, cancel := context.WithCancel(context.Background())
	go func() { <-ctx.Done() }()
	_ = cancel
}

func handedOn(use func(context.Context)) { // = goroutine 1 at receive
	ctx, cancel := context.WithCancel(context.Background())
	use(ctx)
	go func() { <-ctx.Done() }()
	_ = cancel
}

func handedOnWithCancel(use func(context.Context, func())) { // = ends
	ctx, cancel := context.WithCancel(context.Background())
	use(ctx, cancel)
	<-ctx.Done()
}

func group(n int) { // = ends
	var wg sync.WaitGroup
	for range n {
		wg.Add(1)
		go func() { wg.Done() }()
	}
	wg.Wait()
}

func oneTooMany() { // = goroutine 0 at wait
	var wg sync.WaitGroup
	wg.Add(2)
	go func() { wg.Done() }()
	wg.Wait()
}

func signalFirst() { // = goroutine 0 at cond
	var mu sync.Mutex
	c := sync.NewCond(&mu)
	c.Signal()
	mu.Lock()
	c.Wait()
	mu.Unlock()
}

func lockTwice() { // = goroutine 0 at lock of 0
	var mu sync.Mutex
	mu.Lock()
	mu.Lock()
}

type box struct {
	sync.Mutex
	n int
}

func (b *box) take() { b.Lock() }

func keepLock() { // = goroutine 0 at lock of 0 (returned)
	b := &box{}
	b.take()
	b.take()
}

func keepLockInGoroutine() { // = goroutine 0 at lock of 1 (ended)
	b, done := &box{}, make(chan int)
	go func() {
		b.take()
		if b.n == 0 {
			close(done)
		}
	}()
	<-done
	b.take()
}

func embedded() { // = goroutine 0 at lock of 0
	b := &box{}
	b.Lock()
	b.take()
}

func opposite() { // = goroutine 0 at lock of 1, goroutine 1 at lock of 0
	var a, b sync.Mutex
	go func() {
		a.Lock()
		b.Lock()
		b.Unlock()
		a.Unlock()
	}()
	b.Lock()
	a.Lock()
	a.Unlock()
	b.Unlock()
}

func closedTwice() { // = close of closed channel
	ch := make(chan int)
	close(ch)
	close(ch)
}

func sendOnClosed() { // = send on closed channel
	ch := make(chan int, 1)
	go func() { close(ch) }()
	ch <- 1
}

func deep(n int) { // = cut
	ch := make(chan int, 1)
	ch <- n
	deep(n + <-ch)
}

var (
	errClosed = errors.New("closed")
	errLast   error
)

type closer struct {
	mu   sync.Mutex
	err  error
	done chan struct{}
}

func (c *closer) close(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return
	}
	c.err = err
	close(c.done)
}

func closedOnceByError() { // = ends
	c := &closer{done: make(chan struct{})}
	go c.close(errClosed)
	c.close(context.Canceled)
	<-c.done
}

func closedAgainWithoutError() { // = close of closed channel
	c := &closer{done: make(chan struct{})}
	go c.close(errLast)
	c.close(errLast)
	<-c.done
}

type canceler struct {
	closer
	parent context.Context
}

func (c *canceler) watch() {
	select {
	case <-c.parent.Done():
		c.close(c.parent.Err())
	case <-c.done:
	}
}

func closedOnceByContext(parent context.Context) { // = ends
	c := &canceler{closer{done: make(chan struct{})}, parent}
	go c.watch()
	c.close(context.Canceled)
	<-c.done
}

func closedBeforeContext(parent context.Context) { // = close of closed channel
	c := &canceler{closer{done: make(chan struct{})}, parent}
	go func() {
		c.close(c.parent.Err())
	}()
	c.close(context.Canceled)
	<-c.done
}

func closedOnceByOwnContext() { // = ends
	parent, cancel := context.WithCancel(context.Background())
	c := &canceler{closer{done: make(chan struct{})}, parent}
	go c.watch()
	cancel()
	<-c.done
}

func timerIsSet() { // = ends
	done := make(chan struct{})
	t := time.AfterFunc(time.Second, func() { close(done) })
	if t != nil {
		<-done
	}
}

func timerWithFunctionHasNoChannel() { // = goroutine 0 at receive
	t := time.AfterFunc(time.Second, func() {})
	<-t.C
}

func stoppedTicker() { // = goroutine 1 at receive
	t := time.NewTicker(time.Second)
	go func() {
		for range t.C {
		}
	}()
	t.Stop()
}

func tickerUntilDone() { // = ends
	t, done := time.NewTicker(time.Second), make(chan bool)
	go func() {
		for {
			select {
			case <-t.C:
			case <-done:
				return
			}
		}
	}()
	t.Stop()
	close(done)
}

type guarded struct {
	sync.Mutex
	n    int
	cond *sync.Cond
}

func condOfEmbeddedLock() { // = ends
	g := &guarded{n: 1}
	g.cond = sync.NewCond(g)
	go func() {
		g.Lock()
		g.n--
		g.cond.Broadcast()
		g.Unlock()
	}()
	g.Lock()
	for g.n > 0 {
		g.cond.Wait()
	}
	g.Unlock()
}

type flight struct{ done chan struct{} }

func flightLeaves(calls *flights, lands bool) {
	f := &flight{make(chan struct{})}
	if other, dup := calls.m.LoadOrStore("k", f); dup {
		<-other.(*flight).done
		return
	}
	if lands {
		close(f.done)
	}
}

type flights struct{ m sync.Map }

func followersWait() { // = goroutine 1 at receive
	calls := &flights{}
	flightLeaves(calls, false)
	go flightLeaves(calls, true)
}

func firstOfMapWaitsForNobody() { // = ends
	calls := &flights{}
	flightLeaves(calls, true)
	go flightLeaves(calls, true)
	calls.m.Delete("k")
	if _, ok := calls.m.Load("k"); ok {
		<-make(chan bool)
	}
}
