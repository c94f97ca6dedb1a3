// Package pairs has consecutive accesses of one variable.
package pairs

import "sync"

type Pool struct {
	mu   sync.Mutex
	n    int
	max  int // never written
	seen map[string]int
	log  []string
}

// Branches has one entry with two ends, and an end that is an entry.
func (p *Pool) Branches(b bool) int {
	x := p.n
	if b {
		p.n = x + 1
	}
	return p.n + p.max + p.max
}

// Loop is circular.
func (p *Pool) Loop() {
	for range 3 {
		p.n = 7
	}
}

// Locked needs none, Split has one.
func (p *Pool) Locked() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.n++
	return p.n
}

func (p *Pool) Split(k string) {
	p.mu.Lock()
	v := p.seen[k]
	p.mu.Unlock()
	p.mu.Lock()
	p.seen[k] = v
	p.seen["other"] = v
	p.mu.Unlock()
}

func (p *Pool) get() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.n
}

func (p *Pool) set(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.n = n
}

// Calls has both halves in functions that it calls.
func (p *Pool) Calls() {
	p.set(p.get() + 1)
}

// Other may run twice at once.
func (p *Pool) Other() {
	p.log = append(p.log, "")
}

func fresh() *Pool {
	p := &Pool{}
	p.n = 1
	p.n = 2
	p.set(p.get())
	return p
}

// Each comes to another object with each round.
func Each(list []*Pool, m map[string]*Pool) (sum int) {
	for i := range list {
		sum += list[i].n
	}
	for _, p := range list {
		p.n = sum
	}
	for _, p := range m {
		sum += p.get()
	}
	return sum
}
