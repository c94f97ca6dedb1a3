// Package counted is what the evidence in numbers must not leave out: accesses in function literals.
package counted

import "sync"

type Table struct {
	mu   sync.Mutex
	n    int
	peek func(func())
}

func (t *Table) Add() {
	t.mu.Lock()
	t.n++
	t.mu.Unlock()
}

func (t *Table) Remove() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.n--
}

func (t *Table) Take() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.n
}

// Walk hands a literal over: whether its caller holds the lock, nothing here says.
func (t *Table) Walk() (n int) {
	t.peek(func() { n = t.n })
	t.peek(func() { n += t.n })
	return n
}

func (t *Table) Locked(do func(func())) (n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	do(func() { n = t.n })
	func() { n += t.n }()
	defer func() { n += t.n }()
	return n
}

func (t *Table) Len() int { return t.n } // want `Table.n is read without t.mu: t.mu is held at 5 of 6 accesses that were compared: 2 of 2 writes, 3 of 4 reads .3 others were not.`
