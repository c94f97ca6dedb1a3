package detect

import (
	"sync"
	"testing"
)

type counter struct {
	mu sync.Mutex
	n  int
}

// Hot counter: a field is counted up in two loops.
func TestRaceHotCounter(t *testing.T) {
	c := new(counter)
	count := func() {
		for range 1000 {
			c.n++
		}
	}
	both(count, count)
}

func TestNoRaceHotCounter(t *testing.T) {
	c := new(counter)
	count := func() {
		for range 1000 {
			c.mu.Lock()
			c.n++
			c.mu.Unlock()
		}
	}
	both(count, count)
}

// Captured variable: a local variable of the function that started the goroutines.
func TestRaceCaptured(t *testing.T) {
	var err error
	both(
		func() { err = t.Context().Err() },
		func() {
			if err == nil {
				err = t.Context().Err()
			}
		})
}

func TestNoRaceCaptured(t *testing.T) {
	var err error
	var mu sync.Mutex
	both(
		func() { mu.Lock(); defer mu.Unlock(); err = t.Context().Err() },
		func() {
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				err = t.Context().Err()
			}
		})
}
