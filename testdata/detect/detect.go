// Package detect holds small programs, one a class of data race, each with a
// clean twin: TestRaceX has the race, TestNoRaceX the same code with the
// synchronisation that was missing. cmd/internal/detect runs them.
package detect

import "sync"

// both runs f and g in two goroutines and waits for them.
func both(f, g func()) {
	var wg sync.WaitGroup
	wg.Add(2)
	go func() { defer wg.Done(); f() }()
	go func() { defer wg.Done(); g() }()
	wg.Wait()
}
