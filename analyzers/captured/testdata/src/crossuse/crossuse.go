// Package crossuse hands literals to another package, which starts them.
package crossuse

import (
	"cross"
	"sync"
)

func Handed() int {
	n := 0
	cross.Go(func() {
		n = 1 // want `variable n is shared with the goroutine that captures it`
	})
	return n
}

func Called() int {
	n := 0
	cross.Run(func() {
		n = 1 // ok: no goroutine
	})
	return n
}

func Own() int {
	n := 0
	cross.Go(func() {
		n := 1 // ok: its own
		_ = n
	})
	return n
}

func UnderLock(do func() error) error {
	var mu cross.Mutex
	var failed error
	var wg sync.WaitGroup
	for range 2 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			if err := do(); err != nil {
				mu.Do(func() { failed = err }) // ok: under the lock of another package
			}
		}()
	}
	wg.Wait()
	return failed
}

func BehindLock(do func() error) error {
	var mu cross.Mutex
	var failed error
	var wg sync.WaitGroup
	for range 2 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			if err := do(); err != nil {
				mu.Late(func() { failed = err }) // want `variable failed is shared with the goroutine that captures it`
			}
		}()
	}
	wg.Wait()
	return failed
}
