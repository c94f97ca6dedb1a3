// Package generics counts goroutines of generic types and functions.
package generics

import "sync"

type Pool[T any] struct {
	wg    sync.WaitGroup
	items chan T
}

func (p *Pool[T]) Start(f func(T)) {
	go p.work(f)
}

func (p *Pool[T]) work(f func(T)) {
	p.wg.Add(1) // want `Pool.wg is raised by the goroutine that it counts: \(\*Pool\).work runs in a goroutine of its own`
	defer p.wg.Done()
	for v := range p.items {
		f(v)
	}
}

func (p *Pool[T]) Stop() {
	close(p.items)
	p.wg.Wait()
}

func Each[T any](list []T, f func(T)) { // ok: counted before
	var wg sync.WaitGroup
	for _, v := range list {
		wg.Add(1)
		go one(&wg, v, f)
	}
	wg.Wait()
}

func one[T any](wg *sync.WaitGroup, v T, f func(T)) {
	defer wg.Done()
	f(v)
}
