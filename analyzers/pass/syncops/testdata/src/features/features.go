// Package features has a function for each way to use a channel or a WaitGroup.
// The comments list the operations of a line.
package features

import (
	"context"
	"sync"
)

type T struct {
	ch   chan int
	buf  chan int
	done chan struct{}
	wg   sync.WaitGroup
	mu   sync.Mutex
}

func New() *T {
	return &T{ch: make(chan int), buf: make(chan int, 3), done: make(chan struct{})}
}

func Sends(t *T) {
	t.ch <- 1        // = send T.ch alone, unbuffered
	t.buf <- 2       // = send T.buf alone
	<-t.ch           // = receive T.ch alone, unbuffered
	v, ok := <-t.buf // = receive T.buf alone
	println(v, ok)
	close(t.done) // = close T.done, unbuffered
}

func Ranges(t *T) {
	for v := range t.ch { // = receive T.ch alone, unbuffered
		println(v)
	}
}

func Selects(t *T, ctx context.Context) {
	select {
	case t.ch <- 1: // = send T.ch, unbuffered
	case <-t.done: // = receive T.done, unbuffered
	}
	select {
	case v := <-t.ch: // = receive T.ch, or default, unbuffered
		println(v)
	default:
	}
	select {
	case <-t.done: // = receive T.done alone, unbuffered
	}
}

func Waits(t *T) {
	t.wg.Add(1) // = add T.wg
	go func() {
		defer t.wg.Done() // = done T.wg
	}()
	t.wg.Wait()        // = wait T.wg alone
	t.wg.Go(func() {}) // = none
}

func Locals() {
	ch := make(chan int)
	var wg sync.WaitGroup
	wg.Add(1) // = add local wg
	go func() {
		ch <- 1   // = send local (chan int) alone, unbuffered
		wg.Done() // = done local wg
	}()
	<-ch      // = receive local (chan int) alone, unbuffered
	wg.Wait() // = wait local wg alone
}

func Deferred(t *T) {
	defer close(t.done) // = close T.done, unbuffered
	defer func() {
		<-t.ch // = receive T.ch alone, unbuffered
	}()
}

// A channel that comes as a parameter has no name.
func Parameter(ch chan int, out chan<- int) {
	out <- <-ch // = none
}

func UnderLock(t *T) {
	t.mu.Lock()
	t.ch <- 1 // = send T.ch alone, unbuffered under t.mu
	t.mu.Unlock()
}

type Embeds struct{ *T }

func Embedded(e *Embeds) {
	e.ch <- 1   // = send T.ch alone, unbuffered
	e.wg.Wait() // = wait T.wg alone
}

type Box[V any] struct{ ch chan V }

func (b *Box[V]) Put(v V) {
	b.ch <- v // = send Box.ch alone
}

func Assigned(t *T) {
	ch := t.ch
	ch <- 1 // = send T.ch alone, unbuffered
}

func MethodValue(t *T) {
	wait := t.wg.Wait
	wait() // = wait T.wg alone
}

// Missed: operations behind a result, and WaitGroup.Go.
func Result(t *T) {
	<-t.channel() // = none
}

func (t *T) channel() <-chan int { return t.ch }

var global = make(chan int)

func Global() {
	global <- 1 // = send global alone
}
