// Package spin: a lock made of an atomic word, whatever its methods are called.
package spin

import (
	"runtime"
	"sync/atomic"
)

type word struct{ taken atomic.Bool }

func (w *word) enter() {
	for !w.taken.CompareAndSwap(false, true) {
		runtime.Gosched()
	}
}

func (w *word) leave() { w.taken.Store(false) }

type number uint32

func (n *number) lock() {
	for !atomic.CompareAndSwapUint32((*uint32)(n), 0, 1) {
	}
}

func (n *number) unlock() { atomic.StoreUint32((*uint32)(n), 0) }

// once takes nothing for longer than itself.
func (w *word) once() {
	if w.taken.CompareAndSwap(false, true) {
		println("first")
	}
}

type Table struct {
	mu   word
	num  number
	open int
	size int
	free int
}

func (t *Table) Open(n int) {
	t.mu.enter()
	defer t.mu.leave()
	t.open += n
}

func (t *Table) Close(n int) {
	t.mu.enter()
	t.open -= n
	t.mu.leave()
}

func (t *Table) Count() int {
	return t.open // want `Table.open is read without t.mu`
}

func (t *Table) Grow(n int) {
	t.num.lock()
	t.size += n
	t.num.unlock()
}

func (t *Table) Size() int {
	t.num.lock()
	defer t.num.unlock()
	return t.size
}

func (t *Table) Peek() int { return t.size } // want `Table.size is read without t.num`

func (t *Table) Free() {
	t.mu.once()
	t.free++ // ok: no lock anywhere
}
