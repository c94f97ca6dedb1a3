// Package detect holds small programs, one a class of data race, each with a
// clean twin: TestRaceX has the race, TestNoRaceX the same code with the
// synchronisation that was missing. `make detect` runs them.
package detect

import "sync"

// work takes a few hundred microseconds. (A sleep would tell the campaign that
// the tests count on time, and make its noise faint for all of them.)
func work() (x uint32) {
	for i := range uint32(200_000) {
		x = x*31 + i
	}
	return x
}

// both runs f and g in two goroutines and waits for them.
func both(f, g func()) {
	var wg sync.WaitGroup
	wg.Add(2)
	go func() { defer wg.Done(); f() }()
	go func() { defer wg.Done(); g() }()
	wg.Wait()
}
