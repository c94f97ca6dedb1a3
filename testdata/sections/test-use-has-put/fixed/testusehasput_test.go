package testusehasput

import (
	"sync"
	"sync/atomic"
	"testing"
)

func TestTake(t *testing.T) {
	h := New()
	var taken atomic.Int64
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for i := range 50 {
				if h.Take(i, "x") {
					taken.Add(1)
				}
			}
		})
	}
	wg.Wait()
	if got := taken.Load(); got != 50 {
		t.Errorf("%d seats taken, want 50", got)
	}
}
