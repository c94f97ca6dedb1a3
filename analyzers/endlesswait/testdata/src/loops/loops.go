// Package loops has goroutines that leave their loops when they are stopped.
package loops

import (
	"context"
	"sync"
	"time"
)

type Loop struct {
	tasks chan func()
	done  chan struct{}
	once  sync.Once
}

func New() *Loop {
	l := &Loop{tasks: make(chan func()), done: make(chan struct{})}
	go l.run()
	return l
}

func (l *Loop) run() {
	for {
		select {
		case <-l.done:
			return
		case t := <-l.tasks:
			t()
		}
	}
}

func (l *Loop) Close() { l.once.Do(func() { close(l.done) }) }

func (l *Loop) Do(t func()) {
	l.tasks <- t // want `IL4003: send of Loop.tasks may wait for ever: The other side is \(\*Loop\).run alone, which returns when l.done is ready: then nothing can end this wait.`
}

func (l *Loop) DoUntil(ctx context.Context, t func()) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case l.tasks <- t: // ok: a lead, since the context may end the wait
		return nil
	}
}

func (l *Loop) DoOrClosed(t func()) bool { // ok: it obeys what the loop obeys
	select {
	case <-l.done:
		return false
	case l.tasks <- t:
		return true
	}
}

func (l *Loop) DoSoon(t func()) bool { // ok: a timer ends the wait
	select {
	case <-time.After(time.Second):
		return false
	case l.tasks <- t:
		return true
	}
}

// Drained goes on receiving until nobody sends any more.
type Drained struct {
	tasks chan func()
	done  chan struct{}
}

func NewDrained() *Drained {
	d := &Drained{tasks: make(chan func()), done: make(chan struct{})}
	go d.run()
	return d
}

func (d *Drained) run() {
	for {
		select {
		case <-d.done:
			for range d.tasks { // ok
			}
			return
		case t := <-d.tasks:
			t()
		}
	}
}

func (d *Drained) Close()      { close(d.done) }
func (d *Drained) Do(t func()) { d.tasks <- t }

// Ticker sends ticks to its users until its context is done.
type Ticker struct {
	mu   sync.Mutex
	ctx  context.Context
	next chan time.Time
	free chan time.Time
}

func NewTicker(ctx context.Context) *Ticker {
	t := &Ticker{ctx: ctx, next: make(chan time.Time, 1), free: make(chan time.Time)}
	go t.loop(time.NewTicker(time.Second))
	go t.freeLoop(time.NewTicker(time.Second))
	return t
}

func (t *Ticker) Next() <-chan time.Time {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.next
}
func (t *Ticker) Free() <-chan time.Time { return t.free }

func (t *Ticker) loop(tick *time.Ticker) {
	for {
		select {
		case <-t.ctx.Done():
			return
		case at := <-tick.C:
			t.next <- at // want `IL4003: send of Ticker.next may wait for ever: \(\*Ticker\).loop returns when t.ctx.Done\(\) is ready, but not while it waits here`
		}
	}
}

func (t *Ticker) freeLoop(tick *time.Ticker) {
	for {
		select {
		case <-t.ctx.Done():
			return
		case at := <-tick.C:
			select {
			case t.free <- at: // ok
			case <-t.ctx.Done():
				return
			}
		}
	}
}
