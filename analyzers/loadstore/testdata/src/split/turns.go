package split

import "sync"

type total struct {
	mu sync.Mutex
	n  int
}

func (t *total) Get() int  { t.mu.Lock(); defer t.mu.Unlock(); return t.n }
func (t *total) Set(n int) { t.mu.Lock(); defer t.mu.Unlock(); t.n = n }

// A message that goes round is a lock.
func Turns(t *total) {
	turn := make(chan struct{}, 1)
	turn <- struct{}{}
	for range 4 {
		go func() { <-turn; t.Set(t.Get() + 1); turn <- struct{}{} }() // ok
	}
}

// Two messages are none.
func TwoTurns(t *total) {
	turn := make(chan struct{}, 2)
	turn <- struct{}{}
	turn <- struct{}{}
	for range 4 {
		go func() { <-turn; t.Set(t.Get() + 1); turn <- struct{}{} }() // want `update of total.n is not one step`
	}
}

// Nor is one that goes on before the store.
func EarlyTurns(t *total) {
	turn := make(chan struct{}, 1)
	turn <- struct{}{}
	for range 4 {
		go func() {
			<-turn
			n := t.Get()
			turn <- struct{}{}
			t.Set(n + 1) // want `update of total.n is not one step`
		}()
	}
}
