package hidden

import (
	"sync"
	"testing"
	"time"
)

// later starts f after a while; the returned function waits for its end.
func later(d time.Duration, f func()) (wait func()) {
	done := make(chan bool)
	go func() {
		defer close(done)
		time.Sleep(d)
		f()
	}()
	return func() { <-done }
}

type account struct {
	mu sync.Mutex
	n  int
}

func (a *account) pay(b *account) {
	a.mu.Lock()
	defer a.mu.Unlock()
	b.mu.Lock()
	defer b.mu.Unlock()
	a.n, b.n = a.n-1, b.n+1
}

// Two accounts: each pays the other, 10 ms apart.
func TestDeadlockAccounts(*testing.T) {
	var a, b account
	w := later(10*time.Millisecond, func() { b.pay(&a) })
	a.pay(&b)
	w()
}

// Two accounts at once: the window is a few instructions.
func TestDeadlockNarrow(*testing.T) {
	var a, b account
	w := later(0, func() { b.pay(&a) })
	a.pay(&b)
	w()
}

// Two accounts, 100 ms apart: opposite orders, far apart.
func TestDeadlockFar(*testing.T) {
	var a, b account
	w := later(100*time.Millisecond, func() { b.pay(&a) })
	a.pay(&b)
	w()
}

// A gate: both orders under a third lock.
func TestCleanGate(*testing.T) {
	var a, b account
	var gate sync.Mutex
	w := later(5*time.Millisecond, func() {
		gate.Lock()
		defer gate.Unlock()
		b.pay(&a)
	})
	gate.Lock()
	a.pay(&b)
	gate.Unlock()
	w()
}

// Joined: the second order is taken when the first goroutine has ended.
func TestCleanJoined(*testing.T) {
	var a, b account
	later(5*time.Millisecond, func() { b.pay(&a) })()
	a.pay(&b)
}

// Forked: the goroutine starts behind the first order.
func TestCleanForked(*testing.T) {
	var a, b account
	a.pay(&b)
	later(5*time.Millisecond, func() { b.pay(&a) })()
}

// One goroutine: it takes both orders.
func TestCleanOneGoroutine(*testing.T) {
	var a, b account
	w := later(time.Millisecond, func() {})
	for range 3 {
		a.pay(&b)
		b.pay(&a)
	}
	w()
}

// By address: the order is that of numbers.
func TestCleanOrdered(*testing.T) {
	accounts := [2]account{}
	pay := func(i, j int) {
		accounts[min(i, j)].mu.Lock()
		defer accounts[min(i, j)].mu.Unlock()
		accounts[max(i, j)].mu.Lock()
		defer accounts[max(i, j)].mu.Unlock()
		accounts[i].n--
		accounts[j].n++
	}
	w := later(5*time.Millisecond, func() { pay(1, 0) })
	pay(0, 1)
	w()
}

// By messages: a worker takes the other order only for what it is asked, and is waited for.
func TestCleanByMessages(*testing.T) {
	var a, b account
	ask, answer := make(chan bool), make(chan bool)
	go func() {
		for range ask {
			b.pay(&a)
			answer <- true
		}
	}()
	for range 5 {
		a.pay(&b)
		ask <- true
		<-answer
	}
	close(ask)
}

// Readers: opposite orders of read locks, and nobody writes.
func TestCleanReaders(*testing.T) {
	var a, b sync.RWMutex
	read := func(x, y *sync.RWMutex) {
		x.RLock()
		defer x.RUnlock()
		y.RLock()
		defer y.RUnlock()
	}
	w := later(5*time.Millisecond, func() { read(&b, &a) })
	read(&a, &b)
	w()
}

// Handed over: one goroutine locks, the other unlocks.
func TestCleanHandedOverLock(*testing.T) {
	var signal, mu sync.Mutex
	signal.Lock()
	w := later(5*time.Millisecond, func() {
		mu.Lock()
		signal.Unlock()
		mu.Unlock()
	})
	signal.Lock()
	signal.Unlock()
	w()
}

// A signal: the second Lock waits for the other goroutine's Unlock, for longer than any check takes.
func TestCleanSignal(*testing.T) {
	var signal sync.Mutex
	signal.Lock()
	go func() {
		time.Sleep(200 * time.Millisecond)
		signal.Unlock()
	}()
	signal.Lock()
	signal.Unlock()
}

// Try: a goroutine that does not get the second lock releases the first.
func TestCleanTry(*testing.T) {
	var a, b account
	pay := func(x, y *account) {
		for {
			x.mu.Lock()
			if y.mu.TryLock() {
				x.n, y.n = x.n-1, y.n+1
				y.mu.Unlock()
				x.mu.Unlock()
				return
			}
			x.mu.Unlock()
			time.Sleep(time.Millisecond)
		}
	}
	w := later(2*time.Millisecond, func() { pay(&b, &a) })
	pay(&a, &b)
	w()
}

// Store and index: the locks lie in two types, the second behind a call.
func TestDeadlockStoreIndex(*testing.T) {
	type index struct {
		sync.Mutex
		keys []string
	}
	type store struct {
		sync.RWMutex
		index index
		n     int
	}
	var s store
	add := func() {
		s.Lock()
		defer s.Unlock()
		s.index.Lock()
		s.index.keys = append(s.index.keys, "a")
		s.index.Unlock()
	}
	compact := func() {
		s.index.Lock()
		defer s.index.Unlock()
		s.RLock()
		s.index.keys = s.index.keys[:s.n]
		s.RUnlock()
	}
	w := later(8*time.Millisecond, compact)
	add()
	w()
}

// Three locks: a ring, the goroutines 4 ms apart.
func TestDeadlockRing(*testing.T) {
	var mus [3]sync.Mutex
	var waits []func()
	for i := range mus {
		waits = append(waits, later(time.Duration(4*i)*time.Millisecond, func() {
			mus[i].Lock()
			defer mus[i].Unlock()
			mus[(i+1)%3].Lock()
			defer mus[(i+1)%3].Unlock()
		}))
	}
	for _, w := range waits {
		w()
	}
}

// Read again: a reader reads again while a writer may come.
func TestDeadlockReadAgain(*testing.T) {
	var mu sync.RWMutex
	size := func() int {
		mu.RLock()
		defer mu.RUnlock()
		return 1
	}
	w := later(3*time.Millisecond, func() {
		mu.Lock()
		defer mu.Unlock()
	})
	for range 3 {
		mu.RLock()
		size()
		mu.RUnlock()
		time.Sleep(2 * time.Millisecond)
	}
	w()
}

// A worker and its owner: opposite orders in each of a few rounds.
func TestDeadlockRounds(*testing.T) {
	var a, b account
	w := later(0, func() {
		for range 5 {
			a.pay(&b)
			time.Sleep(3 * time.Millisecond)
		}
	})
	time.Sleep(time.Millisecond)
	for range 5 {
		b.pay(&a)
		time.Sleep(3 * time.Millisecond)
	}
	w()
}

var registry, logger sync.Mutex

// Package variables: no object is unreachable, so that the collector proves nothing.
func TestDeadlockGlobals(*testing.T) {
	w := later(10*time.Millisecond, func() {
		logger.Lock()
		defer logger.Unlock()
		registry.Lock()
		defer registry.Unlock()
	})
	registry.Lock()
	logger.Lock()
	logger.Unlock()
	registry.Unlock()
	w()
}

// Missed unlock: a rare return leaves the lock held.
func TestDeadlockMissedUnlock(*testing.T) {
	var mu sync.Mutex
	n := 0
	step := func() bool {
		mu.Lock()
		if n++; n == 3 {
			return false
		}
		mu.Unlock()
		return true
	}
	w := later(0, func() {
		for range 2 {
			step()
			time.Sleep(time.Millisecond)
		}
	})
	for range 2 {
		step()
		time.Sleep(time.Millisecond)
	}
	w()
}

// Upgrade: a reader asks for the write lock that it keeps itself from getting.
func TestDeadlockUpgrade(*testing.T) {
	var mu sync.RWMutex
	n := 0
	w := later(2*time.Millisecond, func() {
		mu.RLock()
		defer mu.RUnlock()
		if n == 0 {
			mu.Lock()
			n++
			mu.Unlock()
		}
	})
	w()
}
