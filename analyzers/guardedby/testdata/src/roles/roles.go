// Package roles: one goroutine does not race with itself.
package roles

import "sync"

type Worker struct {
	mu    sync.Mutex
	state int
	done  int
	peer  string
}

func Start() *Worker {
	w := &Worker{}
	go w.run()
	return w
}

func (w *Worker) run() {
	for {
		if w.state > 10 { // ok: only run writes it
			return
		}
		w.mu.Lock()
		w.state++
		w.mu.Unlock()
		w.step()
	}
}

func (w *Worker) step() {
	w.mu.Lock()
	w.state += 2
	w.done++
	w.mu.Unlock()
}

func (w *Worker) State() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.state
}

func (w *Worker) Done() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.done = 0
}

func (w *Worker) Poll() int { return w.done } // want `Worker.done is read without w.mu`

// Handlers are often called by reflection or by frameworks; nothing here does.
func (w *Worker) dead() int { return w.done } // ok: nothing calls it
