// Package basic: a second Lock, directly and through methods.
package basic

import "sync"

type T struct {
	mu  sync.RWMutex
	n   int
	sub *T
}

func (t *T) Get() int {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.n
}

func (t *T) deeper() int { return t.Get() }

func (t *T) Direct() {
	t.mu.Lock()
	t.mu.Lock() // want `T.mu is locked again by the goroutine that holds it`
	t.mu.Unlock()
}

func (t *T) Through() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.deeper() // want `t.deeper\(\) leads to \(\*T\).Get at basic.go:13, which waits for t.mu`
}

func (t *T) Conditional() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.n == 0 {
		t.n = t.Get() // want `T.mu is locked again`
	}
	return t.n
}

func (t *T) Deferred() {
	t.mu.Lock()
	defer t.mu.Unlock()
	defer t.Get() // want `T.mu is locked again`
	t.n++
}

func (t *T) OtherInstance(o *T) int { // ok: two objects
	t.mu.Lock()
	defer t.mu.Unlock()
	return o.Get()
}

func (t *T) Child() int { // ok: another object
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.sub.Get()
}

// giveUp is called with the lock held, and gives it up in between.
func (t *T) giveUp() {
	t.mu.Unlock()
	t.Get()
	t.mu.Lock()
}

func (t *T) Helper() { // ok
	t.mu.Lock()
	t.giveUp()
	t.mu.Unlock()
}

func (t *T) flag(locked bool) int {
	if !locked {
		t.mu.Lock()
		defer t.mu.Unlock()
	}
	return t.n
}

func (t *T) Flagged() int { // ok: the parameter says that the lock is held
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.flag(true)
}

type options struct{ locked, fresh bool }

func (t *T) option(o options) int {
	if !o.locked {
		t.mu.Lock()
		defer t.mu.Unlock()
	}
	return t.n
}

func (t *T) WithOption() int { // ok: as Flagged
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.option(options{locked: true})
}

func (t *T) optionOf(o *options) int {
	if !o.locked {
		t.mu.Lock()
		defer t.mu.Unlock()
	}
	return t.n
}

func (t *T) WithOptionOf(o *options) int { // ok
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.optionOf(o)
}

func (t *T) Try() int { // ok: TryLock does not wait
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.mu.TryLock() {
		return 0
	}
	return t.n
}

func All(list []*T) { // ok: each round locks another one
	for _, t := range list {
		t.mu.Lock()
	}
	for _, t := range list {
		t.mu.Unlock()
	}
}

func (t *T) Walk() { // ok: t.sub is another object after the assignment
	t.sub.mu.Lock()
	old := t.sub
	t.sub = t.sub.sub
	t.sub.mu.Lock()
	t.sub.mu.Unlock()
	old.mu.Unlock()
}

func (t *T) Start() { // ok: the goroutine waits until the lock is free
	t.mu.Lock()
	defer t.mu.Unlock()
	go t.Get()
}

// Last must come to an end, though its path grows.
func (t *T) Last() int {
	t.mu.RLock()
	n := t.n
	t.mu.RUnlock()
	if t.sub != nil {
		return t.sub.Last()
	}
	return n
}
