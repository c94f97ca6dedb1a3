// Package basic: two classes in both orders, and three in a circle.
package basic

import "sync"

type Store struct {
	mu    sync.Mutex
	index *Index
	n     int
}

type Index struct {
	mu    sync.Mutex
	store *Store
	n     int
}

func (s *Store) Put() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.n++
	s.index.add()
}

func (i *Index) add() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.n++
}

func (i *Index) Rebuild() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.store.mu.Lock() // want `Index.mu and Store.mu are locked in both orders: At the same moment, \(\*Index\).Rebuild holds Index.mu and waits for Store.mu, while \(\*Store\).Put holds Store.mu`
	i.n = i.store.n
	i.store.mu.Unlock()
}

var a, b, c sync.Mutex

func AB() {
	a.Lock()
	b.Lock() // want `locks are taken in a circle: a -> b -> c -> a`
	b.Unlock()
	a.Unlock()
}

func BC() {
	b.Lock()
	func() {
		c.Lock()
		c.Unlock()
	}()
	b.Unlock()
}

func CA() {
	c.Lock()
	a.Lock()
	a.Unlock()
	c.Unlock()
}

type One struct {
	mu  sync.Mutex
	two *Two
}

type Two struct {
	mu  sync.Mutex
	one *One
}

func (o *One) InOrder() { // ok: TryLock does not wait, and new objects have no rivals
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.two.mu.TryLock() {
		o.two.mu.Unlock()
	}
	two := &Two{one: o}
	two.mu.Lock()
	o.two = two
	two.mu.Unlock()
}

func (t *Two) Back() { // ok
	t.mu.Lock()
	t.one.mu.Lock()
	t.one.mu.Unlock()
	t.mu.Unlock()
}

// giveUp is called with o.mu held.
func (o *One) giveUp() {
	o.mu.Unlock()
	o.two.mu.Lock()
	o.two.mu.Unlock()
	o.mu.Lock()
}

func (o *One) Careful() { // ok: the helper gives the lock up first
	o.mu.Lock()
	o.giveUp()
	o.mu.Unlock()
}
