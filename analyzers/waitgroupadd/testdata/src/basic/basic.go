// Package basic: goroutines that count themselves, and those that are counted.
package basic

import "sync"

type Server[T any] struct {
	wg, ok, inner, free sync.WaitGroup
	v                   T
}

func (s *Server[T]) Start() {
	go s.loop()
	s.ok.Add(1)
	go s.counted()
	go s.noDone()
}

func (s *Server[T]) loop() {
	s.wg.Add(1) // want `Server.wg is raised by the goroutine that it counts: \(\*Server\).loop runs in a goroutine of its own; Wait in \(\*Server\).Stop may come before`
	defer s.wg.Done()
}

func (s *Server[T]) counted() { // ok: under a count, it may count others
	defer s.ok.Done()
	s.ok.Add(1)
	go s.other()
}

func (s *Server[T]) other() { s.ok.Done() } // ok

func (s *Server[T]) noDone() { // ok: counts others
	s.free.Add(1)
	go s.free.Done()
}

func (s *Server[T]) Stop() {
	s.wg.Wait()
	s.ok.Wait()
	s.free.Wait()
}

func Local(work []func()) {
	var wg sync.WaitGroup
	for _, f := range work {
		go func() {
			defer wg.Done()
			f()
			wg.Add(1) // want `wg is raised by the goroutine that it counts`
		}()
	}
	wg.Wait()
}

func Vets(work []func()) { // ok: go vet reports it
	var wg sync.WaitGroup
	for _, f := range work {
		go func() {
			wg.Add(1)
			defer wg.Done()
			f()
		}()
	}
	wg.Wait()
}

func Right(work []func()) { // ok
	var wg sync.WaitGroup
	for _, f := range work {
		wg.Add(1)
		go func() {
			defer wg.Done()
			f()
		}()
	}
	wg.Wait()
}

func Own() { // ok: the goroutine waits itself
	go func() {
		var ready sync.WaitGroup
		if true {
			ready.Add(1)
			go func() { ready.Done() }()
		}
		func() { ready.Done() }()
		ready.Wait()
	}()
}

// The waiter holds a count of its own, which the goroutine takes off last.
type producer struct {
	inFlight sync.WaitGroup
	input    chan int
}

func (p *producer) Start() { go p.dispatch() }

func (p *producer) dispatch() {
	for n := range p.input {
		if n < 0 {
			p.inFlight.Done()
			continue
		}
		p.inFlight.Add(1) // ok
		p.inFlight.Done()
	}
}

func (p *producer) Flush() {
	p.inFlight.Add(1)
	p.input <- -1
	p.inFlight.Wait()
}

// It holds none.
type loose struct {
	inFlight sync.WaitGroup
	input    chan int
}

func (p *loose) Start() { go p.dispatch() }

func (p *loose) dispatch() {
	for range p.input {
		p.inFlight.Add(1) // want `loose.inFlight is raised by the goroutine that it counts`
		p.inFlight.Done()
	}
}

func (p *loose) Flush() { p.inFlight.Wait() }
