// Package basic: returns without unlock.
package basic

import (
	"errors"
	"sync"
)

var errClosed = errors.New("closed")

type Pool[T any] struct {
	mu     sync.Mutex
	rw     sync.RWMutex
	cond   *sync.Cond
	closed bool
	all    []T
}

func New[T any]() *Pool[T] { return &Pool[T]{cond: sync.NewCond(new(sync.Mutex))} }

func (p *Pool[T]) Add(v T) error {
	p.mu.Lock()
	if p.closed {
		return errClosed // want `a return leaves Pool.mu locked: \(\*Pool\).Add has unlocked p.mu when it returns at line 28, but not when it returns at line 24: the next`
	}
	p.all = append(p.all, v)
	p.mu.Unlock()
	return nil
}

func (p *Pool[T]) Cond(v T) error {
	p.cond.L.Lock()
	if p.closed {
		return errClosed // want `a return leaves Pool.cond.L locked`
	}
	p.all = append(p.all, v)
	p.cond.L.Unlock()
	return nil
}

func (p *Pool[T]) Read(i int) (v T, err error) {
	p.rw.RLock()
	if i >= len(p.all) {
		return v, errClosed // want `a return leaves Pool.rw locked`
	}
	v = p.all[i]
	p.rw.RUnlock()
	return v, nil
}

func (p *Pool[T]) Nothing(v T) {
	p.mu.Lock()
	if p.closed {
		return // want `a return leaves Pool.mu locked`
	}
	p.all = append(p.all, v)
	p.mu.Unlock()
}

func (p *Pool[T]) InClosure(v T) func() {
	return func() {
		p.mu.Lock()
		if p.closed {
			return // want `a return leaves Pool.mu locked`
		}
		p.all = append(p.all, v)
		p.mu.Unlock()
	}
}

func (p *Pool[T]) Deferred(v T) error { // ok
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return errClosed
	}
	return nil
}

func (p *Pool[T]) Each(v T) error { // ok: every way out unlocks
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return errClosed
	}
	p.mu.Unlock()
	return nil
}

func (p *Pool[T]) Sometimes(really bool) int { // ok: what locks unlocks
	if really {
		p.mu.Lock()
	}
	n := len(p.all)
	if really {
		p.mu.Unlock()
	}
	return n
}

func (p *Pool[T]) Ignored(v T) error {
	p.mu.Lock()
	if p.closed {
		//interlock:ignore IL3004 the process ends
		return errClosed
	}
	p.mu.Unlock()
	return nil
}

type gate struct {
	mu     sync.Mutex
	closed bool
}

// Both returns say the same, so that no caller can tell them apart.
func (g *gate) Close() error {
	g.mu.Lock()
	if g.closed {
		return nil // want `IL3004`
	}
	g.closed = true
	g.mu.Unlock()
	return nil
}

type latch struct {
	mu     sync.Mutex
	closed bool
}

// The caller can tell by what is returned.
func (l *latch) acquire() (held, ok bool) {
	l.mu.Lock()
	if l.closed {
		return true, true
	}
	l.mu.Unlock()
	return false, true
}

// Early returns before the lock, which has nothing to unlock there.
func (p *Pool[T]) Early(v *T) error {
	if v == nil {
		return nil
	}
	p.mu.Lock()
	if p.closed {
		return errClosed // want `Early has unlocked p.mu when it returns at line 153, but not`
	}
	p.all = append(p.all, *v)
	p.mu.Unlock()
	return nil
}
