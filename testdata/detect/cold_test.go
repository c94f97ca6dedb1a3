package detect

import (
	"sync"
	"testing"
)

var state struct {
	mu     sync.Mutex
	level  int
	closed bool
}

// Cold single write: one write and one read, each made once.
func TestRaceColdWrite(t *testing.T) {
	both(
		func() { state.level = 3 },
		func() { t.Log(state.level) })
}

func TestNoRaceColdWrite(t *testing.T) {
	set := make(chan bool)
	both(
		func() { state.level = 3; close(set) },
		func() { <-set; t.Log(state.level) })
}

// Flag: a loop polls a variable until another goroutine sets it.
func TestRaceFlag(t *testing.T) {
	work := 0
	both(
		func() { state.closed = true },
		func() {
			for i := 0; i < 1_000_000 && !state.closed; i++ {
				work++
			}
		})
}

func TestNoRaceFlag(t *testing.T) {
	work := 0
	closed := func() bool {
		state.mu.Lock()
		defer state.mu.Unlock()
		return state.closed
	}
	both(
		func() { state.mu.Lock(); state.closed = true; state.mu.Unlock() },
		func() {
			for i := 0; i < 10_000 && !closed(); i++ {
				work++
			}
		})
}
