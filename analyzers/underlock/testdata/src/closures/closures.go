// Package closures sends in a closure, of a generic type.
package closures

import "sync"

type Queue[T any] struct {
	mu    sync.Mutex
	items chan T
	n     int
}

func New[T any]() *Queue[T] { return &Queue[T]{items: make(chan T)} }

func (q *Queue[T]) Put(v T) {
	q.mu.Lock()
	defer q.mu.Unlock()
	func() {
		q.items <- v // want `send of Queue.items under`
	}()
}

func (q *Queue[T]) loop() {
	for {
		q.mu.Lock()
		<-q.items
		q.n++
		q.mu.Unlock()
	}
}

func (q *Queue[T]) Start() { go q.loop() }
