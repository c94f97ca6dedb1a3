// Command command works in phases: its workers have ended before it goes on.
package main

import "sync"

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

func parallel(n int, f func()) {
	var wg sync.WaitGroup
	for range n {
		wg.Add(1)
		go func() {
			defer wg.Done()
			f()
		}()
	}
	wg.Wait()
}

type late struct {
	mu sync.Mutex
	n  int
}

func (l *late) add() {
	l.mu.Lock()
	l.n++
	l.mu.Unlock()
}

func (l *late) double() {
	l.mu.Lock()
	v := l.n
	l.mu.Unlock()
	l.mu.Lock()
	l.n = 2 * v // want `update of late.n is not one step`
	l.mu.Unlock()
}

// some waits for its goroutines on some ways only.
func some(n int, f func()) {
	var wg sync.WaitGroup
	for range n {
		wg.Add(1)
		go func() {
			defer wg.Done()
			f()
		}()
	}
	if n > 1 {
		wg.Wait()
	}
}

var (
	total sum
	rest  late
)

func main() {
	parallel(4, total.add)
	total.double()
	some(4, rest.add)
	rest.double()
}
