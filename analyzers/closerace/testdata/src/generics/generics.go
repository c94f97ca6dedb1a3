// Package generics closes channels of generic types.
package generics

import "sync"

type Topic[T any] struct {
	mu   sync.Mutex
	subs chan T
	done chan struct{}
	once sync.Once
}

func (t *Topic[T]) Publish(v T) { t.subs <- v } // want `Topic.subs may be sent on when it is closed: \(\*Topic\).Publish may run while \(\*Topic\).Close`

func (t *Topic[T]) Close() { close(t.subs) }

func (t *Topic[T]) Stop() { // ok: one of them closes it
	t.once.Do(func() { close(t.done) })
}

type Twice[T any] struct{ done chan T }

func (t *Twice[T]) Stop() {
	select {
	case <-t.done:
	default:
		close(t.done) // want `Twice.done may be closed twice`
	}
}
