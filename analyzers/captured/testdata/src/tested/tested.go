// Package tested is tested with goroutines of its tests.
package tested

import (
	"context"
	"sync"
)

// Target wakes those who wait for a number once it is reached.
type Target struct {
	mu    sync.Mutex
	chans map[uint64][]chan bool
}

func NewTarget() *Target { return &Target{chans: map[uint64][]chan bool{}} }

func (t *Target) Subscribe(n uint64) <-chan bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	ch := make(chan bool)
	t.chans[n] = append(t.chans[n], ch)
	return ch
}

func (t *Target) Signal(n uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, ch := range t.chans[n] {
		close(ch)
	}
	delete(t.chans, n)
}

// Later runs f some time.
func Later(f func()) { go f() }

// Future is an answer to come.
type Future struct {
	Done   chan bool
	Answer int
}

func NewFuture() *Future { return &Future{Done: make(chan bool)} }

func (f *Future) Wait(ctx context.Context) int {
	select {
	case <-f.Done:
		return f.Answer
	case <-ctx.Done():
		return 0
	}
}
