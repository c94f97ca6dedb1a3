// Package ordered: goroutines that count themselves before somebody hears of them.
package ordered

import "sync"

type Told struct {
	wg   sync.WaitGroup
	quit chan struct{}
}

func (s *Told) Start() {
	ready := make(chan struct{})
	go s.loop(ready)
	<-ready
}

func (s *Told) loop(ready chan<- struct{}) {
	s.wg.Add(1) // ok: Start returns behind it
	defer s.wg.Done()
	close(ready)
	<-s.quit
}

func (s *Told) Stop() {
	close(s.quit)
	s.wg.Wait()
}

type Untold struct {
	wg   sync.WaitGroup
	quit chan struct{}
}

func (s *Untold) Start() {
	ready := make(chan struct{}, 1)
	ready <- struct{}{}
	go s.loop(ready)
}

func (s *Untold) loop(ready chan<- struct{}) {
	s.wg.Add(1) // want `Untold.wg is raised by the goroutine that it counts`
	defer s.wg.Done()
	close(ready)
	<-s.quit
}

func (s *Untold) Stop() {
	close(s.quit)
	s.wg.Wait()
}

type Counted struct{ started, running sync.WaitGroup }

func (s *Counted) Start(n int) {
	s.started.Add(n)
	for range n {
		go s.loop()
	}
	s.started.Wait()
}

func (s *Counted) loop() {
	s.running.Add(1) // ok
	defer s.running.Done()
	s.started.Done()
}

func (s *Counted) Stop() { s.running.Wait() }

type Fed struct {
	wg sync.WaitGroup
	in chan int
}

func Start(f func(int)) *Fed {
	s := &Fed{in: make(chan int)}
	go s.run(f)
	return s
}

func (s *Fed) run(f func(int)) {
	s.wg.Add(1) // ok: it receives behind it
	defer s.wg.Done()
	for n := range s.in {
		f(n)
	}
}

func (s *Fed) Last(n int) {
	s.in <- n
	close(s.in)
	s.wg.Wait()
}

func Held(items []int, f func(int)) {
	var wg sync.WaitGroup
	hold(&wg)
	go func() {
		wg.Wait()
		println("done")
	}()
	for _, it := range items {
		wg.Add(1) // ok: hold has counted before
		go func() {
			defer wg.Done()
			f(it)
		}()
	}
	wg.Done()
}

func hold(wg *sync.WaitGroup) { wg.Add(1) }

func Empty(items []int, f func(int)) {
	var wg sync.WaitGroup
	go func() {
		wg.Wait()
		println("done")
	}()
	for _, it := range items {
		wg.Add(1) // want `wg is raised after Wait may have begun`
		go func() {
			defer wg.Done()
			f(it)
		}()
	}
}
