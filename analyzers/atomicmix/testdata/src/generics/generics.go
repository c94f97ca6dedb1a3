package generics

import "sync/atomic"

type Box[T any] struct {
	value T
	users int32
}

func (b *Box[T]) Use() T {
	atomic.AddInt32(&b.users, 1)
	return b.value
}

func (b *Box[T]) Idle() bool {
	return b.users == 0 // want `Box.users is read plainly`
}

func Users(b *Box[int]) int32 {
	return b.users // told with Idle
}
