// Package closures: callbacks, interfaces, method values, sync.Once, conditions.
package closures

import (
	"sort"
	"sync"
)

type T struct {
	mu   sync.Mutex
	list []int
	cond *sync.Cond
}

func New() *T {
	t := &T{}
	t.cond = sync.NewCond(&t.mu)
	return t
}

func (t *T) Len() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.list)
}

func (t *T) Sort() {
	t.mu.Lock()
	defer t.mu.Unlock()
	sort.Slice(t.list, func(i, j int) bool { // want `T.mu is locked again`
		return t.list[i] < t.list[j] && t.Len() > 1
	})
}

func (t *T) InPlace() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return func() int { return t.Len() }() // want `T.mu is locked again`
}

func (t *T) Later() func() int { // ok: runs after the return, perhaps
	t.mu.Lock()
	defer t.mu.Unlock()
	return func() int { return t.Len() }
}

type lener interface{ Len() int }

func (t *T) Interface() int {
	var l lener = t
	t.mu.Lock()
	defer t.mu.Unlock()
	return l.Len() // want `T.mu is locked again`
}

func (t *T) ThroughCond() {
	t.mu.Lock()
	t.cond.L.Lock() // want `T.mu is locked again`
	t.cond.L.Unlock()
}

func (t *T) Await() { // ok: Wait gives the lock up, and takes it back
	t.cond.L.Lock()
	for len(t.list) == 0 {
		t.cond.Wait()
	}
	t.cond.L.Unlock()
}

func (t *T) unlock() { t.mu.Unlock() }

func (t *T) Once(early bool) int { // ok: the Once has unlocked
	var once sync.Once
	t.mu.Lock()
	defer once.Do(t.unlock)
	if early {
		once.Do(t.unlock)
		return t.Len()
	}
	return 0
}

func (t *T) Lent(done chan bool) { // ok: the goroutine that waits has given the lock up
	t.cond.L.Lock()
	go func() {
		t.cond.Wait()
		done <- true
	}()
	t.cond.L.Lock()
	t.cond.L.Unlock()
}
