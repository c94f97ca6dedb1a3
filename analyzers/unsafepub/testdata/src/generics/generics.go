// Package generics publishes, initialises and flags in generic types.
package generics

import "sync"

type Worker[T any] struct {
	in   chan T
	stop chan bool
}

func Start[T any]() *Worker[T] {
	w := &Worker[T]{in: make(chan T)} // ok: in is made before
	go w.run()
	return w
}

func (w *Worker[T]) run() {
	w.stop = make(chan bool) // want `Worker.stop is assigned by a started goroutine`
	select {
	case <-w.in:
	case <-w.stop:
	}
}

func (w *Worker[T]) Stop() { w.stop <- true }

func (w *Worker[T]) Put(v T) { w.in <- v }

type Named[T any] struct {
	mu   sync.Mutex
	name string
	held string
	v    T
}

func (n *Named[T]) Set(v T) {
	n.mu.Lock()
	n.v = v
	n.mu.Unlock()
}

func (n *Named[T]) Name() string {
	n.mu.Lock()
	n.mu.Unlock()
	if n.name == "" {
		n.name = "named" // want `Named.name is initialised lazily`
	}
	return n.name
}

func (n *Named[T]) Held() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.held == "" {
		n.held = "held" // ok: locked
	}
	return n.held
}
