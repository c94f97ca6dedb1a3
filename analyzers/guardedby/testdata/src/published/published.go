// Package published makes variables under a lock once, and shows by an atomic flag that they are there.
package published

import (
	"sync"
	"sync/atomic"
)

type Table struct {
	mu   sync.Mutex
	done atomic.Uint32
	list []int
	n    int
}

func (t *Table) List() []int {
	if t.done.Load() == 0 {
		t.fill()
	}
	return t.list // ok: the flag was set, or fill has seen to it
}

func (t *Table) Len() int {
	if t.done.Load() != 0 {
		return t.n // ok
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.n
}

func (t *Table) fill() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.done.Load() == 0 {
		defer t.done.Store(1)
		t.list = append(t.list, 1, 2, 3)
		t.n = len(t.list)
	}
}

// Inline does all in one function, by functions of sync/atomic.
type Inline struct {
	mu   sync.Mutex
	done uint32
	list []int
}

func (t *Inline) List() []int {
	if atomic.LoadUint32(&t.done) != 1 {
		t.mu.Lock()
		if atomic.LoadUint32(&t.done) != 1 {
			t.list = append(t.list, 1, 2, 3)
			atomic.StoreUint32(&t.done, 1)
		}
		t.mu.Unlock()
	}
	return t.list // ok
}

// Untested has a reader that does not ask.
type Untested struct {
	mu   sync.Mutex
	done atomic.Bool
	list []int
}

func (t *Untested) List() []int {
	return t.list // want `Untested.list is read without t.mu`
}

func (t *Untested) Fill() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.done.Load() {
		t.list = append(t.list, 1, 2, 3)
		t.done.Store(true)
	}
}

// Unmade asks, and reads on although the flag is not set.
type Unmade struct {
	mu   sync.Mutex
	done atomic.Bool
	list []int
	late int
}

func (t *Unmade) List() []int {
	if !t.done.Load() {
		t.late++
	}
	return t.list // want `Unmade.list is read without t.mu`
}

func (t *Unmade) Fill() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.done.Load() {
		t.list = append(t.list, 1, 2, 3)
		t.done.Store(true)
	}
}

// Early sets the flag before the list is there.
type Early struct {
	mu   sync.Mutex
	done atomic.Bool
	list []int
}

func (t *Early) List() []int {
	if t.done.Load() {
		return t.list // want `Early.list is read without t.mu`
	}
	return nil
}

func (t *Early) Fill() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.done.Load() {
		t.done.Store(true)
		t.list = append(t.list, 1, 2, 3)
	}
}

// Again has a second writer, which does not ask.
type Again struct {
	mu   sync.Mutex
	done atomic.Bool
	list []int
}

func (t *Again) List() []int {
	if t.done.Load() {
		return t.list // want `Again.list is read without t.mu`
	}
	return nil
}

func (t *Again) Fill() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.done.Load() {
		t.list = append(t.list, 1, 2, 3)
		t.done.Store(true)
	}
}

func (t *Again) Add(n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.list = append(t.list, n)
}
