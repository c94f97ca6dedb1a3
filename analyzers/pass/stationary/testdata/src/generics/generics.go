package generics

import "sync"

type Box[T any] struct {
	mu         sync.Mutex
	stillFirst T
	last       T
}

func New[T any](v T) *Box[T] {
	return &Box[T]{stillFirst: v, last: v}
}

func (b *Box[T]) Put(v T) {
	b.mu.Lock()
	b.last = v
	b.mu.Unlock()
}

func (b *Box[T]) First() T {
	f := func() T { return b.stillFirst }
	return f()
}
