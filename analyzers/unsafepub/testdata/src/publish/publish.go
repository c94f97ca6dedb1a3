package publish

import "runtime"

type Worker struct {
	stop  chan bool
	ready chan bool
	seen  map[string]int
	jobs  chan int
}

func Start() *Worker {
	w := &Worker{ready: make(chan bool)}
	go w.run()
	return w
}

func (w *Worker) run() {
	w.stop = make(chan bool) // want `Worker.stop is assigned by a started goroutine, .* \(\*Worker\).Stop \(publish.go:\d+\) may find the field unset`
	<-w.stop
}

func (w *Worker) Stop() { w.stop <- true }

// Waiter reports when it has set the field.
type Waiter struct {
	ready chan bool
	stop  chan bool
}

func Wait() *Waiter {
	w := &Waiter{ready: make(chan bool)}
	go func() {
		w.stop = make(chan bool) // ok: told by the channel
		close(w.ready)
		<-w.stop
	}()
	return w
}

func (w *Waiter) Stop() {
	<-w.ready
	w.stop <- true
}

// Own is only used by its goroutine.
type Own struct{ seen map[string]int }

func (o *Own) Start() { go o.loop() }

func (o *Own) loop() {
	o.seen = map[string]int{} // ok
	o.step()
}

func (o *Own) step() { o.seen["a"] = len(o.seen) }

// Finalized is stopped by a finalizer.
type Finalized[T any] struct {
	items []T
	stop  chan bool
}

func New[T any]() *Finalized[T] {
	f := &Finalized[T]{}
	go f.run()
	runtime.SetFinalizer(f, stopFinalized[T])
	return f
}

func (f *Finalized[T]) run() {
	f.stop = make(chan bool) // want `Finalized.stop is assigned by a started goroutine`
	<-f.stop
}

func stopFinalized[T any](f *Finalized[T]) { f.stop <- true }
