// Package shallow has scopes that call long functions.
package shallow

import "context"

type conn struct {
	n  [8]int
	up chan int
}

func (c *conn) serve(ctx context.Context) error {
	for i := range c.n {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case c.up <- i:
			c.n[i]++
		default:
			c.n[i]--
		}
		if c.n[i] > 7 || c.n[7] < i || i == 3 && c.n[4] == c.n[5] {
			return c.serve(ctx)
		}
	}
	return c.serve(ctx)
}

// The connection is from outside.
func dial(ctx context.Context, c *conn) error { // = goroutine 1 at send
	failed := make(chan error)
	go func() { failed <- c.serve(ctx) }()
	select {
	case err := <-failed:
		return err
	case <-c.up:
		return nil
	}
}

// The scope has made it, so that what is done with it counts; not all of that can be followed.
func dialOwn(ctx context.Context) error { // = cut, goroutine 1 at send
	c := &conn{up: make(chan int)}
	failed := make(chan error)
	go func() { failed <- c.serve(ctx) }()
	select {
	case err := <-failed:
		return err
	case <-c.up:
		return nil
	}
}
