package contexts

import (
	"context"
	"time"
)

// The context is never cancelled.
func notCancelled(f func()) {
	ctx, cancel := context.WithCancel(context.Background())
	_ = cancel
	done := make(chan struct{})
	go func() {
		<-ctx.Done() // want `IL4003`
		close(done)
	}()
	f()
	<-done
}

func cancelled(f func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		<-ctx.Done()
		close(done)
	}()
	f()
	cancel()
	<-done
}

func childCancelled(f func()) {
	parent, cancel := context.WithCancel(context.Background())
	defer cancel()
	ctx, cancelChild := context.WithCancel(parent)
	defer cancelChild()
	go func() { <-ctx.Done() }()
	f()
}

func timesOut(f func()) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	_ = cancel
	go func() { <-ctx.Done() }()
	f()
}

// The context of the caller may be one that is cancelled.
func ofCaller(ctx context.Context, f func()) {
	go func() { <-ctx.Done() }()
	f()
}

// The sender looks at another context than the one that ends the receiver.
func otherContext(ctx context.Context, get func() int) int {
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	ch := make(chan int)
	go func() {
		select {
		case ch <- get():
		case <-inner.Done():
		}
	}()
	select {
	case v := <-ch:
		return v
	case <-ctx.Done():
		return 0
	}
}
