package leads

import "sync"

// Flusher has a goroutine that it stops.
type Flusher struct {
	mu         sync.Mutex
	quit, wake chan int
	done       chan struct{}
}

func (f *Flusher) Start() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.quit, f.wake, f.done = make(chan int), make(chan int), make(chan struct{})
	go func() {
		defer func() { f.done <- struct{}{} }()
		for {
			select {
			case <-f.quit: // a lead: stop waits for the end before it writes
				return
			case <-f.wake: // want `Flusher.wake is read without f.mu`
			}
		}
	}()
}

func (f *Flusher) Stop() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.stop()
}

func (f *Flusher) stop() {
	f.quit <- 1
	<-f.done
	f.quit = nil
}

func (f *Flusher) Renew(wake chan int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.wake = wake
}

func (f *Flusher) Wake() chan int {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.quit == nil {
		return nil
	}
	return f.wake
}

// Limits has defaults.
type Limits struct {
	mu          sync.Mutex
	tries, wait int
}

func (l *Limits) defaults() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.tries == 0 {
		l.tries = 3
	}
	if l.wait != 7 {
		l.wait = 7
	}
}

func (l *Limits) Tries() int {
	l.defaults()
	return l.tries // a lead: written only where it was found zero, before
}

func (l *Limits) Wait() int {
	l.defaults()
	return l.wait // want `Limits.wait is read without l.mu`
}

func (l *Limits) Both() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.tries*l.wait + l.tries + l.wait
}
