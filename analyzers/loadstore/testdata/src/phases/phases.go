// Package phases has updates that others cannot come in between of, and some
// that they can.
package phases

import "sync"

// Sum is used by tests only.
type sum struct {
	mu sync.Mutex
	n  int
}

func (s *sum) add() {
	s.mu.Lock()
	s.n++
	s.mu.Unlock()
}

func (s *sum) double() {
	s.mu.Lock()
	v := s.n
	s.mu.Unlock()
	s.mu.Lock()
	s.n = 2 * v // ok: the adders have been waited for
	s.mu.Unlock()
}

// Late is doubled while others add: any caller may.
type Late struct {
	mu sync.Mutex
	n  int
}

func (l *Late) Add() {
	l.mu.Lock()
	l.n++
	l.mu.Unlock()
}

func (l *Late) Double() {
	l.mu.Lock()
	v := l.n
	l.mu.Unlock()
	l.mu.Lock()
	l.n = 2 * v // want `update of Late.n is not one step`
	l.mu.Unlock()
}

// Loop alone changes its sum, and others read it once it has ended.
type Loop struct {
	in   chan int
	done chan struct{}
	sum  int
}

func Start() *Loop {
	l := &Loop{in: make(chan int), done: make(chan struct{})}
	go l.run()
	return l
}

func (l *Loop) run() {
	defer close(l.done)
	for v := range l.in {
		l.sum += v // ok: nobody else changes it
	}
}

func (l *Loop) Sum() int {
	<-l.done
	return l.sum
}

// Two goroutines change the sum of Pair.
type Pair struct{ sum int }

func (p *Pair) Start() {
	go p.run()
}

func (p *Pair) run() {
	for {
		p.sum++ // want `update of Pair.sum is not one step: .*\(\*Pair\).Reset may access it in another goroutine`
	}
}

func (p *Pair) Reset() { p.sum = 0 }
