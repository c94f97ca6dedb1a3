// Package crossuse closes and sends on the channels of another package's type.
package crossuse

import "cross"

type Worker struct{ cross.Queue }

func (w *Worker) Send(v int) { w.Items <- v } // want `Queue.Items may be sent on when it is closed: \(\*Worker\).Send may run while \(\*Worker\).Close`

func (w *Worker) Close() { close(w.Items) }

func (w *Worker) Stop() {
	select {
	case <-w.Done:
	default:
		close(w.Done) // want `Queue.Done may be closed twice`
	}
}

func (w *Worker) Put(v int) { // ok: under the lock, as Finish
	w.Mu.Lock()
	defer w.Mu.Unlock()
	w.Own <- v
}

func (w *Worker) Finish() {
	w.Mu.Lock()
	defer w.Mu.Unlock()
	close(w.Own)
}
