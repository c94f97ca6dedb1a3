// Package crossuse completes objects of another package's type, and has its
// own published by another package.
package crossuse

import "cross"

type Worker struct {
	cross.Base
	quit chan bool
	fine chan bool
}

func Start() *Worker {
	w := &Worker{fine: make(chan bool)}
	cross.Go(w.run)
	return w
}

func (w *Worker) run() {
	w.quit = make(chan bool) // want `Worker.quit is assigned by a started goroutine`
	select {
	case <-w.quit:
	case <-w.fine: // ok: made before
	}
}

func (w *Worker) Quit() { w.quit <- true }

func (w *Worker) Fine() { w.fine <- true }

func (w *Worker) Label() string {
	w.Mu.Lock()
	w.Mu.Unlock()
	if w.Name == "" {
		w.Name = "worker" // want `Base.Name is initialised lazily`
	}
	return w.Name
}

func (w *Worker) TagRight() string {
	w.Mu.Lock()
	defer w.Mu.Unlock()
	if w.Tag == "" {
		w.Tag = "worker" // ok: locked
	}
	return w.Tag
}
