// Package starts: what comes before a go statement comes before what the
// goroutine does.
package starts

import (
	"sync"
	"time"
)

type Writer struct {
	mu     sync.Mutex
	ticker *time.Ticker
	done   chan bool
	size   int
	late   chan bool
}

func (w *Writer) Write(n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ticker == nil {
		w.start()
	}
	w.size += n
}

func (w *Writer) start() {
	w.ticker = time.NewTicker(time.Second)
	w.done = make(chan bool)
	go w.loop()
	w.late = make(chan bool)
}

func (w *Writer) loop() {
	defer close(w.done)    // ok: made before the goroutine was started
	defer close(w.late)    // want `Writer.late is read without w.mu`
	for range w.ticker.C { // ok
		w.flush()
	}
}

func (w *Writer) flush() {
	if w.size == 0 { // want `Writer.size is read without w.mu`
		return
	}
	w.mu.Lock()
	w.size = 0
	w.mu.Unlock()
}

func (w *Writer) Stop() {
	w.mu.Lock()
	w.ticker.Stop()
	done, late := w.done, w.late
	w.mu.Unlock()
	<-done
	<-late
}
