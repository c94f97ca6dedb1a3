// Package closures publishes to goroutines that are function literals.
package closures

type Watcher struct {
	events chan int
	stop   chan bool
}

func Watch() *Watcher {
	w := &Watcher{events: make(chan int)}
	go func() {
		w.stop = make(chan bool) // want `Watcher.stop is assigned by a started goroutine`
		<-w.stop
	}()
	return w
}

func (w *Watcher) Stop() { w.stop <- true }

type Ready struct{ stop chan bool }

func Begin() *Ready {
	r := &Ready{}
	set := func() { r.stop = make(chan bool) }
	set() // ok: before the goroutine
	go func() { <-r.stop }()
	return r
}

func (r *Ready) Stop() { r.stop <- true }
