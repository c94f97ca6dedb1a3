// Package helpers: functions are judged by the locks that their callers hold.
package helpers

import "sync"

type Table struct {
	mu   sync.Mutex
	rows []string
	size int
}

func (t *Table) Add(r string) {
	t.lock()
	defer t.unlock()
	t.add(r)
}

func (t *Table) AddAll(rs []string) {
	t.mu.Lock()
	for _, r := range rs {
		t.add(r)
	}
	t.mu.Unlock()
}

// Both callers hold the lock.
func (t *Table) add(r string) {
	t.rows = append(t.rows, r) // ok
	t.grow(len(r))
}

func (t *Table) grow(n int) { t.size += n } // ok

func (t *Table) lock()   { t.mu.Lock() }
func (t *Table) unlock() { t.mu.Unlock() }

func (t *Table) Len() int {
	t.lock()
	defer t.unlock()
	return len(t.rows)
}

func (t *Table) Size() int {
	return t.size + t.free() // want `Table.size is read without t.mu`
}

// One caller has no lock, so the access has none either.
func (t *Table) free() int {
	return cap(t.rows) // want `Table.rows is read without t.mu`
}

func (t *Table) Free() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.free()
}

// sizeLocked says by its name what it wants.
func (t *Table) sizeLocked() int { return t.size } // ok

// total returns the size. The lock should be held.
func (t *Table) total() int { return t.size } // ok

func (t *Table) Report(f func(int)) {
	f(t.sizeLocked())
	f(t.total())
}

// with calls f under the lock.
func (t *Table) with(f func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	f()
}

func (t *Table) Clear() {
	t.with(func() {
		t.rows = nil // ok
		t.size = 0   // ok
	})
}

// A lock of another object is carried along, though the callee cannot name it.
type Queue struct {
	mu   sync.Mutex
	wait *waiting
}

type waiting struct{ n int }

func (w *waiting) add()        { w.n++ }           // ok
func (w *waiting) empty() bool { return w.n == 0 } // ok

func (q *Queue) Push() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.wait.add()
}

func (q *Queue) Pop() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.wait.empty() {
		return false
	}
	q.wait.n--
	return true
}
