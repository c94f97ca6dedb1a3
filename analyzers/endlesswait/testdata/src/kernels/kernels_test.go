package kernels

import (
	"errors"
	"os"
	"sync"
	"testing"
	"time"
)

// A pool whose methods take the lock that the dispatcher needs.
type pool struct {
	mu    sync.Mutex
	tasks chan func()
	quit  chan struct{}
	n     int
}

func newPool() *pool {
	p := &pool{tasks: make(chan func()), quit: make(chan struct{})}
	go p.dispatch()
	return p
}

func (p *pool) dispatch() {
	for {
		select {
		case task := <-p.tasks:
			p.mu.Lock()
			p.n++
			p.mu.Unlock()
			task()
		case <-p.quit:
			return
		}
	}
}

func (p *pool) submit(task func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tasks <- task
}

func TestPool(t *testing.T) {
	p := newPool()
	p.submit(func() {})
	p.submit(func() {})
	close(p.quit)
}

// A watcher that stops listening before the sender stops.
type watcher interface {
	watch() <-chan int
	stop()
}

type source struct {
	result chan int
	mu     sync.Mutex
	closed bool
}

func (s *source) watch() <-chan int { return s.result }

func (s *source) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.closed = true
		close(s.result)
	}
}

func (s *source) run() {
	s.result <- 1 // want `IL4003`
}

func newSource() watcher {
	s := &source{result: make(chan int)}
	go s.run()
	return s
}

func TestWatcher(t *testing.T) {
	w := newSource()
	select {
	case <-w.watch():
	case <-time.After(time.Second):
	}
}

// A failed test may leave goroutines behind.
func TestFails(t *testing.T) {
	ch := make(chan error)
	go func() { ch <- errors.New("x") }()
	select {
	case err := <-ch:
		if err == nil {
			t.Fatal("no error")
		}
	case <-time.After(time.Second):
		t.Fatal("timeout")
	}
}

// Fatal ends the goroutine that it is called in, and not the one that waits for it.
func TestFatalElsewhere(t *testing.T) {
	done := make(chan bool)
	stop := make(chan bool)
	go func() {
		select {
		case <-stop:
		case <-time.After(time.Second):
			t.Fatal("timeout")
		}
		done <- true
	}()
	close(stop)
	<-done // want `IL4003`
}

// In a file that tests nothing else, whatever the data is counts.
func TestData(t *testing.T) {
	done := make(chan bool)
	go func() {
		if _, err := os.ReadFile("x"); err != nil {
			return
		}
		done <- true
	}()
	<-done // want `IL4003`
}

// A goroutine that a test always leaves behind does no harm.
func TestLeavesBehind(t *testing.T) {
	p := newPool()
	p.submit(func() {})
}

// A timeout ends the test in passing, and the sender hangs.
func TestGivesUp(t *testing.T) {
	ch := make(chan int)
	go func() {
		ch <- 1 // want `IL4003`
	}()
	select {
	case <-ch:
	case <-time.After(time.Second):
		t.Log("timeout")
	}
}

// Workers of a fixed number, and one result too many for them.
func TestWorkers(t *testing.T) {
	work, results := make(chan int), make(chan int)
	for i := 0; i < 2; i++ {
		go func() {
			for w := range work {
				results <- w // want `IL4003`
			}
		}()
	}
	for i := 0; i < 3; i++ {
		work <- i
	}
	close(work)
	for i := 0; i < 3; i++ {
		<-results
	}
}

func TestWorkersInTurn(t *testing.T) {
	work, results := make(chan int), make(chan int)
	for i := 0; i < 2; i++ {
		go func() {
			for w := range work {
				results <- w
			}
		}()
	}
	go func() {
		for i := 0; i < 3; i++ {
			work <- i
		}
		close(work)
	}()
	for i := 0; i < 3; i++ {
		<-results
	}
}

// The consumer always leaves early.
func TestLeavesEarly(t *testing.T) {
	ch := make(chan int)
	go func() {
		for i := range 10 {
			ch <- i // want `IL4003`
		}
	}()
	for i := range ch {
		if i == 3 {
			break
		}
	}
}

// As many workers as the caller says: some.
func pooled(workers, n int, do func(int)) {
	next := make(chan int)
	var done sync.WaitGroup
	for range workers {
		done.Go(func() {
			for i := range next {
				do(i)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	done.Wait()
}

func pooledAtLeastOne(workers, n int, do func(int)) {
	next := make(chan int)
	var done sync.WaitGroup
	for i := 0; i < max(workers, 1); i++ {
		done.Add(1)
		go func() {
			defer done.Done()
			for i := range next {
				do(i)
			}
		}()
	}
	for i := range n {
		next <- i
	}
	close(next)
	done.Wait()
}

// Workers that leave at the first error leave the rest behind.
func pooledWithErrors(workers, n int, do func(int) error) {
	next := make(chan int)
	for range workers {
		go func() {
			for i := range next {
				if do(i) != nil {
					return
				}
			}
		}()
	}
	for i := range n {
		next <- i // want `IL4003`
	}
	close(next)
}

func TestPools(t *testing.T) {
	pooled(2, 3, func(int) {})
	pooledAtLeastOne(2, 3, func(int) {})
	pooledWithErrors(2, 4, func(i int) error {
		if i > 0 {
			return os.ErrInvalid
		}
		return nil
	})
}

// A value that is computed from itself again and again is one symbol's all the same.
func hash(x int) int {
	for range 60 {
		x = x*x ^ x
	}
	return x
}

func TestHash(t *testing.T) {
	ch := make(chan int, 1)
	ch <- hash(os.Getpid())
	if <-ch == 0 {
		t.Log("zero")
	}
}
