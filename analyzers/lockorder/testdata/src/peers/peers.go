// Package peers: two objects of one class.
package peers

import (
	"sync"
	"unsafe"
)

type Account struct {
	mu sync.Mutex
	id int
	n  int
}

func (from *Account) Move(to *Account, n int) {
	from.mu.Lock()
	defer from.mu.Unlock()
	to.mu.Lock() // want `two Account.mu are locked in the order in which they are passed`
	defer to.mu.Unlock()
	from.n, to.n = from.n-n, to.n+n
}

type Ordered struct {
	mu sync.Mutex
	id int
	n  int
}

func (x *Ordered) Move(y *Ordered) { // ok: by id
	first, second := x, y
	if second.id < first.id {
		first, second = second, first
	}
	first.mu.Lock()
	second.mu.Lock()
	second.mu.Unlock()
	first.mu.Unlock()
}

func (x *Ordered) ByAddress(y *Ordered) { // ok: by address
	if uintptr(unsafe.Pointer(x)) < uintptr(unsafe.Pointer(y)) {
		x.mu.Lock()
		y.mu.Lock()
	} else {
		y.mu.Lock()
		x.mu.Lock()
	}
	x.n = y.n
	x.mu.Unlock()
	y.mu.Unlock()
}

type Node struct {
	mu       sync.Mutex
	parent   *Node
	children []*Node
}

func (p *Node) Walk() { // ok: from parent to child
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.children {
		c.Walk()
	}
}

func (p *Node) Adopt(c *Node) { // ok: c becomes a child
	p.mu.Lock()
	defer p.mu.Unlock()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.parent = p
}

func (p *Node) link(c *Node) { // ok: only the package calls it
	p.mu.Lock()
	c.mu.Lock()
	c.mu.Unlock()
	p.mu.Unlock()
}

func (p *Node) All() {
	for _, c := range p.children {
		p.link(c)
	}
}

type Set[T comparable] struct {
	sync.RWMutex
	m map[T]bool
}

type setter[T comparable] interface{ Subset(setter[T]) bool }

func (s *Set[T]) Add(v T) {
	s.Lock()
	defer s.Unlock()
	s.m[v] = true
}

func (s *Set[T]) Subset(other setter[T]) bool {
	o := other.(*Set[T])
	s.RLock()
	o.RLock() // want `two Set.RWMutex .* The locks are read locks here; it takes a writer`
	defer s.RUnlock()
	defer o.RUnlock()
	return len(s.m) <= len(o.m)
}

// Frozen has no writers.
type Frozen struct {
	mu sync.RWMutex
	n  int
}

func (f *Frozen) Equal(o *Frozen) bool { // ok: readers do not wait for each other
	f.mu.RLock()
	defer f.mu.RUnlock()
	o.mu.RLock()
	defer o.mu.RUnlock()
	return f.n == o.n
}
