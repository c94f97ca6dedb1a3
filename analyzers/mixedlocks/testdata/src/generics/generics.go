package generics

import "sync"

type Box[T any] struct {
	mu    sync.Mutex
	other sync.Mutex
	value T
}

func (b *Box[T]) Set(v T) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.value = v
}

func (b *Box[T]) Swap(v T) T {
	b.mu.Lock()
	defer b.mu.Unlock()
	old := b.value
	b.value = v
	return old
}

func (b *Box[T]) Get() T {
	b.other.Lock()
	defer b.other.Unlock()
	return b.value // want `Box.value is read under b.other, but b.mu guards it`
}
