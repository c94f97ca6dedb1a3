// Package closures counts goroutines in literals and in variables that hold them.
package closures

import "sync"

func Kept(work []func()) {
	var wg sync.WaitGroup
	run := func(f func()) {
		f()
		wg.Add(1) // want `wg is raised by the goroutine that it counts`
		defer wg.Done()
	}
	for _, f := range work {
		go run(f)
	}
	wg.Wait()
}

func Nested(work []func()) {
	var wg sync.WaitGroup
	for _, f := range work {
		go func() {
			f()
			func() {
				wg.Add(1) // missed: in a literal that the goroutine calls
			}()
			wg.Done()
		}()
	}
	wg.Wait()
}

func Right(work []func()) {
	var wg sync.WaitGroup
	start := func(f func()) { // ok: counted by who starts it
		wg.Add(1)
		go func() {
			defer wg.Done()
			f()
		}()
	}
	for _, f := range work {
		start(f)
	}
	wg.Wait()
}
