// Package hidden has tests that one calm run shows no race or deadlock of. Their names say what
// another order of the same run shows.
package hidden

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// calm lets other goroutines go first.
func calm() { time.Sleep(2 * time.Millisecond) }

func TestRaceBeforeLock(t *testing.T) {
	var mu sync.Mutex
	x, m, n, done := 0, 0, 0, make(chan bool)
	go func() {
		x = 1
		mu.Lock()
		m++
		mu.Unlock()
		done <- true
	}()
	calm()
	mu.Lock()
	n++
	mu.Unlock()
	x = 2
	<-done
	_, _, _ = x, m, n
}

func TestRaceBeforeReadLock(t *testing.T) {
	var mu sync.RWMutex
	x, done := 0, make(chan bool)
	go func() {
		x = 1
		mu.RLock()
		mu.RUnlock()
		done <- true
	}()
	calm()
	mu.Lock()
	mu.Unlock()
	x = 2
	<-done
	_ = x
}

type account struct {
	mu      sync.Mutex
	balance int
	log     []string
	closed  bool
}

func (a *account) deposit(n int) {
	a.log = append(a.log, "deposit")
	a.mu.Lock()
	defer a.mu.Unlock()
	a.balance += n
}

func (a *account) close() []string {
	a.mu.Lock()
	a.closed = true
	a.mu.Unlock()
	return a.log
}

func TestRaceMethod(t *testing.T) {
	a, done := new(account), make(chan bool)
	go func() { a.deposit(1); done <- true }()
	calm()
	a.close()
	<-done
}

func TestRaceTwoLocks(t *testing.T) {
	var m, n sync.Mutex
	x, y, z, done := 0, 0, 0, make(chan bool)
	go func() {
		x = 1
		m.Lock()
		y++
		m.Unlock()
		n.Lock()
		n.Unlock()
		done <- true
	}()
	calm()
	n.Lock()
	n.Unlock()
	m.Lock()
	z++
	m.Unlock()
	x = 2
	<-done
	_, _, _ = x, y, z
}

func TestDeadlock(t *testing.T) {
	var a, b sync.Mutex
	done := make(chan bool)
	go func() {
		a.Lock()
		b.Lock()
		b.Unlock()
		a.Unlock()
		done <- true
	}()
	calm()
	b.Lock()
	a.Lock()
	a.Unlock()
	b.Unlock()
	<-done
}

func TestDeadlockOfMethods(t *testing.T) {
	a, b, done := new(account), new(account), make(chan bool)
	go func() { link(a, b); done <- true }()
	calm()
	link(b, a)
	<-done
}

func link(from, to *account) {
	from.mu.Lock()
	defer from.mu.Unlock()
	to.mu.Lock()
	defer to.mu.Unlock()
	from.closed = true
}

func TestNothingFlagUnderLock(t *testing.T) {
	var mu sync.Mutex
	ready, x := false, 0
	go func() {
		x = 1
		mu.Lock()
		ready = true
		mu.Unlock()
	}()
	for {
		mu.Lock()
		r := ready
		mu.Unlock()
		if r {
			break
		}
		calm()
	}
	x = 2
	_ = x
}

func TestNothingCond(t *testing.T) {
	var mu sync.Mutex
	cond, ready, x := sync.NewCond(&mu), false, 0
	go func() {
		x = 1
		mu.Lock()
		ready = true
		cond.Signal()
		mu.Unlock()
	}()
	mu.Lock()
	for !ready {
		cond.Wait()
	}
	mu.Unlock()
	x = 2
	_ = x
}

func TestNothingWaitGroup(t *testing.T) {
	var wg sync.WaitGroup
	var mu sync.Mutex
	n, list := 0, make([]int, 4)
	for i := range list {
		wg.Add(1)
		go func() {
			defer wg.Done()
			list[i] = i
			mu.Lock()
			n++
			mu.Unlock()
		}()
	}
	wg.Wait()
	for i := range list {
		list[i]++
	}
	n++
}

func TestNothingChannels(t *testing.T) {
	jobs, results := make(chan *int, 3), make(chan *int)
	var mu sync.Mutex
	n := 0
	for range 2 {
		go func() {
			for j := range jobs {
				*j++
				mu.Lock()
				n++
				mu.Unlock()
				results <- j
			}
		}()
	}
	for range 3 {
		jobs <- new(int)
	}
	for range 3 {
		*<-results++
	}
	close(jobs)
}

// Which of two receivers has what depends on which came first.
func TestNothingReceivers(t *testing.T) {
	c, done := make(chan *int, 2), make(chan bool)
	first, second := new(int), new(int)
	c <- first
	c <- second
	go func() { *<-c = 1; done <- true }()
	calm()
	go func() { *<-c = 1; done <- true }()
	<-done
	<-done
	*first, *second = 2, 2
}

func TestNothingOnce(t *testing.T) {
	var once sync.Once
	var mu sync.Mutex
	var conn *int
	n, done := 0, make(chan bool)
	get := func() *int {
		once.Do(func() { conn = new(int) })
		mu.Lock()
		n++
		mu.Unlock()
		return conn
	}
	go func() { get(); done <- true }()
	calm()
	get()
	<-done
}

func TestNothingAtomic(t *testing.T) {
	var ready atomic.Bool
	var mu sync.Mutex
	x := 0
	go func() {
		x = 1
		mu.Lock()
		mu.Unlock()
		ready.Store(true)
	}()
	for !ready.Load() {
		calm()
	}
	mu.Lock()
	mu.Unlock()
	x = 2
	_ = x
}

func TestNothingContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	x := 0
	go func() { x = 1; cancel() }()
	<-ctx.Done()
	x = 2
	_ = x
}

func TestNothingTimer(t *testing.T) {
	var mu sync.Mutex
	x, done := 0, make(chan bool)
	x = 1
	time.AfterFunc(time.Millisecond, func() {
		mu.Lock()
		x = 2
		mu.Unlock()
		close(done)
	})
	<-done
	x = 3
	_ = x
}

func TestNothingGate(t *testing.T) {
	var gate, a, b sync.Mutex
	done := make(chan bool)
	go func() {
		gate.Lock()
		a.Lock()
		b.Lock()
		b.Unlock()
		a.Unlock()
		gate.Unlock()
		done <- true
	}()
	calm()
	gate.Lock()
	b.Lock()
	a.Lock()
	a.Unlock()
	b.Unlock()
	gate.Unlock()
	<-done
}

// claims are keys, each of which one goroutine at a time has.
type claims struct {
	mu    sync.Mutex
	taken map[string]bool
}

func (c *claims) claim(key string) {
	for {
		c.mu.Lock()
		if !c.taken[key] {
			c.taken[key] = true
			c.mu.Unlock()
			return
		}
		c.mu.Unlock()
		calm()
	}
}

func (c *claims) release(key string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.taken, key)
}

// Another key is released last before x is claimed again: what the map holds then depends on all writes to it.
func TestNothingClaimed(t *testing.T) {
	c, x, done := claims{taken: map[string]bool{"y": true}}, 0, make(chan bool)
	go func() {
		c.claim("x")
		x = 1
		c.release("x")
		done <- true
	}()
	calm()
	go func() {
		c.release("y")
		done <- true
	}()
	calm()
	c.claim("x")
	x = 2
	<-done
	<-done
	_ = x
}

func TestNothingPhases(t *testing.T) {
	var a, b sync.Mutex
	done := make(chan bool)
	go func() {
		a.Lock()
		b.Lock()
		b.Unlock()
		a.Unlock()
		done <- true
	}()
	<-done
	b.Lock()
	a.Lock()
	a.Unlock()
	b.Unlock()
}

func TestNothingReusedMemory(t *testing.T) {
	var mu sync.Mutex
	for range 200 {
		done := make(chan bool)
		x := new(account)
		go func() { x.deposit(1); mu.Lock(); mu.Unlock(); done <- true }()
		<-done
		x.balance = 7
	}
}
