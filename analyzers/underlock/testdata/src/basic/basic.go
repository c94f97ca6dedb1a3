// Package basic: waiting under a lock for somebody who needs it.
package basic

import "sync"

type Queue[T any] struct {
	mu       sync.Mutex
	items    chan T
	buffered chan T
	n        int
	wg       sync.WaitGroup
}

func New[T any]() *Queue[T] {
	q := &Queue[T]{items: make(chan T), buffered: make(chan T, 8)}
	go q.loop()
	return q
}

func (q *Queue[T]) Put(v T) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.items <- v // want `send of Queue.items under Queue.mu, which the other side needs: \(\*Queue\).Put holds q.mu and waits for \(\*Queue\).loop, which waits for Queue.mu`
}

func (q *Queue[T]) PutBuffered(v T) { // ok: there is a buffer
	q.mu.Lock()
	defer q.mu.Unlock()
	q.buffered <- v
}

func (q *Queue[T]) Try(v T) bool { // ok: does not wait
	q.mu.Lock()
	defer q.mu.Unlock()
	select {
	case q.items <- v:
		return true
	default:
		return false
	}
}

func (q *Queue[T]) After(v T) { // ok: without the lock
	q.mu.Lock()
	q.n++
	q.mu.Unlock()
	q.items <- v
}

func (q *Queue[T]) loop() {
	for v := range q.items {
		q.count(v)
	}
	for range q.buffered {
		q.mu.Lock()
		q.n--
		q.mu.Unlock()
	}
}

func (q *Queue[T]) count(T) {
	q.mu.Lock()
	q.n++
	q.mu.Unlock()
}

func (q *Queue[T]) Run() {
	q.wg.Add(1)
	go func() {
		defer q.wg.Done()
		q.mu.Lock()
		q.n = 0
		q.mu.Unlock()
	}()
}

func (q *Queue[T]) Stop() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.wg.Wait() // want `wait of Queue.wg under Queue.mu, which the other side needs`
}

func (q *Queue[T]) StopRight() { // ok
	q.mu.Lock()
	q.n = 0
	q.mu.Unlock()
	q.wg.Wait()
}

type Worker struct {
	mu   sync.Mutex
	jobs chan int
	n    int
}

func Start() *Worker {
	w := &Worker{jobs: make(chan int)}
	go w.run()
	return w
}

func (w *Worker) run() {
	for j := range w.jobs {
		_ = j
	}
	w.mu.Lock() // after the last receive
	w.n = 0
	w.mu.Unlock()
}

func (w *Worker) Do(j int) { // ok: the receiver needs no lock before it receives
	w.mu.Lock()
	defer w.mu.Unlock()
	w.jobs <- j
}

func Local(list []func()) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	mu.Lock()
	defer mu.Unlock()
	for range list {
		wg.Add(1)
		go func() {
			defer wg.Done()
			mu.Lock()
			mu.Unlock()
		}()
	}
	wg.Wait() // want `IL3005: wait of wg may wait for ever`
}

// The one that waits has taken the lock before anybody else could.
type conn struct {
	mu sync.Mutex
	up chan error
}

func newConn() *conn { return &conn{up: make(chan error)} }

func (c *conn) start() {
	c.mu.Lock()
	defer c.mu.Unlock()
	go c.run()
}

func (c *conn) run() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.up <- nil // ok
}

func Dial() error {
	c := newConn()
	c.start()
	return <-c.up
}

// This one comes back for the lock.
type feed struct {
	mu  sync.Mutex
	n   int
	out chan int
}

func newFeed() *feed { return &feed{out: make(chan int)} }

func (f *feed) run() {
	for {
		f.mu.Lock()
		f.out <- f.n // want `IL3005`
		f.mu.Unlock()
	}
}

func (f *feed) count(n int) {
	f.mu.Lock()
	f.n += n
	f.mu.Unlock()
}

func Follow() {
	f := newFeed()
	go f.run()
	for {
		f.count(1)
		f.count(<-f.out)
	}
}
