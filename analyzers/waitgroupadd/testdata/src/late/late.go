// Package late: goroutines that wait, started before and after the first Add.
package late

import "sync"

func Late(work []func(), done chan bool) {
	var wg sync.WaitGroup
	go func() {
		wg.Wait()
		close(done)
	}()
	for _, f := range work {
		wg.Add(1) // want `wg is raised after Wait may have begun`
		go func() {
			defer wg.Done()
			f()
		}()
	}
}

func Early(work []func(), done chan bool) {
	var wg sync.WaitGroup
	for _, f := range work {
		wg.Add(1) // ok
		go func() {
			defer wg.Done()
			f()
		}()
	}
	go func() {
		wg.Wait()
		close(done)
	}()
}

func Guarded(work []func(), done chan bool) {
	var wg sync.WaitGroup
	wg.Add(1)
	go func() {
		wg.Wait()
		close(done)
	}()
	for _, f := range work {
		wg.Add(1) // ok: under the first count
		go func() {
			defer wg.Done()
			f()
		}()
	}
	wg.Done()
}

func Signalled(work []func(), done chan bool) {
	var wg sync.WaitGroup
	all := make(chan bool)
	go func() {
		<-all
		wg.Wait()
		close(done)
	}()
	for _, f := range work {
		wg.Add(1) // ok: the goroutine waits for all first
		go func() {
			defer wg.Done()
			f()
		}()
	}
	close(all)
}

type Pool[T any] struct{ wg sync.WaitGroup }

func (p *Pool[T]) Run(work []func(T), v T) {
	go p.finish()
	for _, f := range work {
		p.wg.Add(1) // want `Pool.wg is raised after Wait may have begun`
		go p.one(f, v)
	}
}

func (p *Pool[T]) finish() { p.wg.Wait() }

func (p *Pool[T]) one(f func(T), v T) {
	defer p.wg.Done()
	f(v)
}
