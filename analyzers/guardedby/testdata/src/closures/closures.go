package closures

import (
	"sort"
	"sync"
	"time"
)

type List struct {
	mu    sync.Mutex
	items []int
	fired int
}

func (l *List) Add(n int) {
	l.mu.Lock()
	defer func() {
		l.fired++ // ok: deferred calls run before the earlier ones… and this one unlocks
		l.mu.Unlock()
	}()
	l.items = append(l.items, n)
}

func (l *List) Sort() {
	l.mu.Lock()
	defer l.mu.Unlock()
	sort.Slice(l.items, func(i, j int) bool {
		return l.items[i] < l.items[j] // ok: runs within Sort
	})
	func() {
		l.items = l.items[:0] // ok
	}()
}

func (l *List) Count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.items) + l.fired
}

func (l *List) Later() {
	l.mu.Lock()
	defer l.mu.Unlock()
	go func() {
		l.items = nil // want `List.items is written without l.mu`
	}()
	time.AfterFunc(time.Second, func() {
		l.fired = 0 // want `List.fired is written without l.mu`
	})
}

var hooks []func()

func (l *List) Hook() {
	hooks = append(hooks, func() {
		l.items = nil // ok: who knows who calls it, and how
	})
}

func (l *List) Unlocker() int {
	unlock := func() { l.mu.Unlock() }
	l.mu.Lock()
	defer unlock()
	return len(l.items) // ok
}

func (l *List) Bound() int {
	l.mu.Lock()
	unlock := l.mu.Unlock
	defer unlock()
	return len(l.items) // ok
}

func (l *List) All(yield func(int) bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, n := range l.items {
		if !yield(n) {
			return
		}
	}
}

func (l *List) Sum() (sum int) {
	for n := range l.All {
		sum += n + len(l.items) // ok: the loop body runs under All's lock
	}
	return sum
}
