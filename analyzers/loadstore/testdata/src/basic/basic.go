// Package basic: the shapes of a load and a store that depends on it.
package basic

import "sync"

type Pool struct {
	mu   sync.Mutex
	idle []int
	free int

	hits  int
	sum   float64
	last  int
	seq   int
	all   []string
	byKey map[string]int
	sub   struct{ n int }
	state int
}

func (p *Pool) Put(n int) {
	p.mu.Lock()
	p.idle = append(p.idle, n) // ok: one step under the lock
	p.free++
	p.mu.Unlock()
}

func (p *Pool) Take() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := p.idle[0]
	p.idle = p.idle[1:]
	p.free--
	p.all, p.byKey = nil, map[string]int{}
	p.sum, p.last, p.seq = 0, 0, 0
	p.sub.n, p.state = 0, 0
	return n
}

func (p *Pool) Hit() { p.hits++ } // ok: nobody else writes it, for all that is known

func (p *Pool) Add(f float64) { p.sum += f } // want `update of Pool.sum is not one step: .*\(\*Pool\).Take accesses it under p.mu`

func (p *Pool) Local() int {
	n := p.last
	n = n + 1
	p.last = n // want `update of Pool.last is not one step`
	return n
}

func next(n int) int { return n + 1 }

func (p *Pool) Call() { p.seq = next(p.seq) } // want `update of Pool.seq is not one step`

func (p *Pool) Append(s string) { p.all = append(p.all, s) } // want `update of Pool.all is not one step`

func (p *Pool) Count(k string) { p.byKey[k]++ } // ok: nobody else writes its elements

func (p *Pool) Sub() { p.sub.n++ } // want `update of Pool.sub.n is not one step`

// A store of something else is no load-and-store.
func (p *Pool) Set(n int) {
	if p.state != n {
		p.state = n // ok
	}
}

func New() *Pool {
	p := &Pool{}
	p.hits++ // ok: nobody else has it
	return p
}

// bump is called under the lock only.
func (p *Pool) bump() { p.free += 2 } // ok

func (p *Pool) Bump() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.bump()
}
