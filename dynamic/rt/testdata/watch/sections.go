package main

import (
	"sync"

	"interlock.invalid/rt"
)

// Programs for sections: section 1 reads account.n at site 1, releases the
// lock, and writes or reads it at site 2. Those named "split" are split by
// another goroutine, those named "whole" are not.

type account struct {
	mu sync.Mutex
	n  int
	s  sync.Mutex // makes two critical sections one
}

func init() {
	programs["splitLostUpdate"] = func() { twice(func(a *account, i int) { a.add(i + 1) }) }
	programs["splitIdempotent"] = func() { twice(func(a *account, _ int) { a.set(7) }) }
	programs["splitTestAndUse"] = func() {
		a, done := new(account), make(chan bool)
		keep = a
		go func() {
			for range 20 {
				a.check()
			}
			close(done)
		}()
		for {
			select {
			case <-done:
				return
			default:
				a.mu.Lock()
				*rt.W(&a.n, 3)++
				a.mu.Unlock()
			}
		}
	}
	programs["wholeOneRegion"] = func() {
		twice(func(a *account, i int) {
			a.s.Lock()
			defer a.s.Unlock()
			a.add(i + 1)
		})
	}
	programs["wholeLeft"] = func() { twice(func(a *account, i int) { a.give(i + 1) }) }
	programs["wholePanics"] = func() { twice(func(a *account, i int) { a.panics(i + 1) }) }
	programs["wholeOtherObjects"] = func() {
		twice(func(_ *account, i int) {
			own := new(account)
			keep = own
			own.add(i + 1)
		})
	}
}

// twice runs f in two goroutines, 200 times each.
func twice(f func(a *account, i int)) {
	a := new(account)
	keep = a
	var wg sync.WaitGroup
	for i := 0; i < 2; i++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for range 200 {
				f(a, i)
			}
		}()
	}
	wg.Wait()
}

// begin is the first half of the section.
func (a *account) begin() int {
	a.mu.Lock()
	v := *rt.Enter(rt.R(&a.n, 1), 1, 1)
	rt.Entered(1)
	a.mu.Unlock()
	rt.Gap(1)
	return v
}

// set is load-and-store.
func (a *account) set(v int) {
	a.begin()
	a.mu.Lock()
	*rt.W(rt.EndWrite(&a.n, 2, 1, rt.AllowReads), 2) = v
	rt.Ended(1)
	a.mu.Unlock()
}

func (a *account) add(d int) {
	v := a.begin()
	a.mu.Lock()
	*rt.W(rt.EndWrite(&a.n, 2, 1, rt.AllowReads), 2) = v + d
	rt.Ended(1)
	a.mu.Unlock()
}

// check is test-and-use.
func (a *account) check() int {
	a.begin()
	a.mu.Lock()
	defer a.mu.Unlock()
	v := *rt.R(rt.EndRead(&a.n, 2, 1, rt.AllowReads), 2)
	rt.Ended(1)
	return v
}

// give leaves the section, and writes behind it.
func (a *account) give(d int) {
	a.begin()
	rt.Leave(1)
	a.mu.Lock()
	*rt.W(&a.n, 2) += d
	a.mu.Unlock()
}

// panics leaves the section without a word.
func (a *account) panics(d int) {
	defer func() { _ = recover() }()
	a.begin()
	a.mu.Lock()
	defer a.mu.Unlock()
	*rt.W(&a.n, 2) += d
	panic("left")
}
