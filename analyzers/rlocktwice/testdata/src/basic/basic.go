// Package basic: read locks taken again and upgraded, with and without writers.
package basic

import "sync"

type List[T any] struct {
	mu    sync.RWMutex
	items []T
}

func (l *List[T]) Len() int {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return len(l.items)
}

func (l *List[T]) Add(v T) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.items = append(l.items, v)
}

func (l *List[T]) All() []T {
	l.mu.RLock()
	defer l.mu.RUnlock()
	all := make([]T, 0, l.Len()) // want `List.mu is read-locked again .* l.Len\(\) leads to \(\*List\).Len at basic.go:12`
	return append(all, l.items...)
}

func (l *List[T]) Upgrade(v T) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	if len(l.items) == 0 {
		l.Add(v) // want `List.mu is locked for writing by the goroutine that holds its read lock`
	}
}

func (l *List[T]) Equal(o *List[T]) bool { // ok: another object
	l.mu.RLock()
	defer l.mu.RUnlock()
	return len(l.items) == o.Len()
}

func (l *List[T]) InTurn(v T) { // ok
	l.mu.RLock()
	n := len(l.items)
	l.mu.RUnlock()
	if n == 0 {
		l.Add(v)
	}
}

func (l *List[T]) Closure() func() int { // ok: runs later
	l.mu.RLock()
	defer l.mu.RUnlock()
	return func() int { return l.Len() }
}

// Frozen has no writers.
type Frozen struct {
	mu sync.RWMutex
	n  int
}

func (f *Frozen) N() int {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return f.n
}

func (f *Frozen) Twice() int { // ok: nobody locks it for writing
	f.mu.RLock()
	defer f.mu.RUnlock()
	return 2 * f.N()
}
