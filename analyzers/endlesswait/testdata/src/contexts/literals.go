package contexts

import (
	"context"
	"errors"
	"time"
)

type handler func(context.Context) error

var errLate = errors.New("late")

// withLimit returns a function that others call.
func withLimit(d time.Duration) func(context.Context, handler) error {
	return func(ctx context.Context, f handler) error {
		ctx, cancel := context.WithTimeout(ctx, d)
		defer cancel()
		c := make(chan error)
		go func() { c <- f(ctx) }() // want `send of c may wait for ever`
		select {
		case err := <-c:
			return err
		case <-ctx.Done():
			return errLate
		}
	}
}

// withRoom has room for the answer that comes too late.
func withRoom(d time.Duration) func(context.Context, handler) error {
	return func(ctx context.Context, f handler) error {
		ctx, cancel := context.WithTimeout(ctx, d)
		defer cancel()
		c := make(chan error, 1)
		go func() { c <- f(ctx) }()
		select {
		case err := <-c:
			return err
		case <-ctx.Done():
			return errLate
		}
	}
}

type worker struct{ run func() }

// newWorker stores a function that waits for all that it starts.
func newWorker(parts []handler) *worker {
	w := &worker{}
	w.run = func() {
		c := make(chan error)
		for _, p := range parts {
			go func() { c <- p(context.Background()) }()
		}
		for range parts {
			<-c
		}
	}
	return w
}
