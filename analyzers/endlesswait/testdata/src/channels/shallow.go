package channels

import (
	"context"
	"errors"
)

// A function that calls so much that it cannot be simulated with all of that.
type dialer struct {
	conns map[string]*link
	n     [64]int
}

type link struct{ up chan struct{} }

var errAgain = errors.New("again")

func (d *dialer) dial(ctx context.Context, host string) (*link, error) {
	l := d.open(host)
	again := make(chan error)
	failed := make(chan error, 1)
	go func() {
		err := d.serve(ctx, l)
		if errors.Is(err, errAgain) {
			again <- err // want `IL4003: send of again may wait for ever`
			return
		}
		failed <- err
	}()
	select {
	case <-again:
		return d.dial(ctx, host)
	case err := <-failed:
		return nil, err
	case <-l.up:
		return l, nil
	}
}

// There is room for the one value.
func (d *dialer) dialOnce(ctx context.Context, host string) (*link, error) {
	l := d.open(host)
	failed := make(chan error, 1)
	go func() { failed <- d.serve(ctx, l) }()
	select {
	case err := <-failed:
		return nil, err
	case <-l.up:
		return l, nil
	}
}

func (d *dialer) open(host string) *link {
	l := &link{make(chan struct{})}
	d.conns[host] = l
	return l
}

// serve calls itself, by turns, more often than the simulation follows.
func (d *dialer) serve(ctx context.Context, l *link) error {
	for i := range d.n {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case l.up <- struct{}{}:
			d.n[i]++
		default:
		}
		if err := d.again(ctx, l, i); err != nil {
			return err
		}
	}
	return nil
}

func (d *dialer) again(ctx context.Context, l *link, i int) error {
	if d.n[i] > len(d.n) {
		return errAgain
	}
	if d.n[i] > i {
		return d.serve(ctx, l)
	}
	return nil
}
