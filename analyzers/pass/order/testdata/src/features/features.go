// Package features has an operation a line.
package features

import (
	"sync"
	"sync/atomic"
)

type T struct {
	ch    chan int
	wg    sync.WaitGroup
	once  sync.Once
	cond  *sync.Cond
	mu    sync.Mutex
	ready atomic.Bool
	count int32
}

func Channels(t *T) {
	t.ch <- 1   // = send t.ch alone
	<-t.ch      // = receive t.ch alone
	close(t.ch) // = close t.ch
	select {
	case t.ch <- 1: // = send t.ch polls
	case <-t.ch: // = receive t.ch polls
	default:
	}
	for range t.ch { // = receive t.ch alone
	}
}

func Groups(t *T) {
	t.wg.Add(1)               // = add t.wg
	t.wg.Done()               // = done t.wg
	t.wg.Wait()               // = wait t.wg alone
	go Atomic(t)              // = start
	defer func(done func()) { // = none
		done()
	}(t.wg.Done)
	defer t.wg.Done() // = done t.wg
}

func Others(t *T) {
	t.once.Do(func() {}) // = once t.once
	t.cond.Wait()        // = await t.cond
	t.cond.Signal()      // = wake t.cond
	t.mu.Lock()          // = none
}

// The callers of other operations read the arguments of the call, which a method value has not.
func Bound(t *T) {
	wait := t.wg.Wait
	wait() // = wait t.wg alone
	set := t.ready.Store
	set(true) // = none
	do := t.once.Do
	do(func() {}) // = none
}

func Started(t *T) {
	go close(t.ch) // = start; close t.ch
	go t.wg.Done() // = start; done t.wg
	go t.wg.Wait() // = start
}

func Atomic(t *T) {
	t.ready.Load()               // = load t.ready
	t.ready.Store(true)          // = store t.ready
	t.ready.Swap(false)          // = update t.ready
	atomic.AddInt32(&t.count, 1) // = update t.count
}
