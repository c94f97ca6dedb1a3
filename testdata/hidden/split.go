package hidden

import "sync"

type table struct {
	mu sync.Mutex
	m  map[string]int
}

func (t *table) add(key string, n int) {
	t.mu.Lock()
	_, ok := t.m[key]
	t.mu.Unlock()
	if !ok {
		t.mu.Lock()
		t.m[key] = n
		t.mu.Unlock()
	}
}

type purse struct {
	mu sync.Mutex
	n  int
}

func (p *purse) get() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.n
}

func (p *purse) set(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.n = n
}

func (p *purse) add(n int) { p.set(p.get() + n) }
