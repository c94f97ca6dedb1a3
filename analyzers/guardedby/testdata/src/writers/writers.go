// Package writers: whoever has taken an item from the pool reads its state
// without the lock, but all changes are made under it.
package writers

import "sync"

type Item struct {
	pool  *Pool
	state int
	value int
}

func (i *Item) Value() int {
	if i.state != 1 { // ok: readers own it
		panic("not taken")
	}
	return i.value
}

func (i *Item) Taken() bool  { return i.state == 1 }
func (i *Item) Broken() bool { return i.state == 3 }
func (i *Item) Idle() bool   { return i.state == 0 }

type Pool struct {
	mu    sync.Mutex
	items []*Item
}

func (p *Pool) Idle() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := 0
	for _, i := range p.items {
		if i.state == 0 {
			n++
		}
	}
	return n
}

func (p *Pool) Take() *Item {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := p.items[0]
	i.state = 1
	return i
}

func (p *Pool) Put(i *Item) {
	p.mu.Lock()
	defer p.mu.Unlock()
	i.state = 0
}

func (p *Pool) Break(i *Item) {
	p.mu.Lock()
	defer p.mu.Unlock()
	i.state = 3
}

func (p *Pool) Mend(i *Item) {
	p.mu.Lock()
	defer p.mu.Unlock()
	i.state = 0
}

func (p *Pool) Make(i *Item) {
	go func() {
		i.state = 1 // want `Item.state is written without p.mu`
	}()
}
