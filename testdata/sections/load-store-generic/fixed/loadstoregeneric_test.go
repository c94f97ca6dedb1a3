package loadstoregeneric

import (
	"sync"
	"testing"
)

func TestUpdate(t *testing.T) {
	var c Cell[int]
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 50 {
				c.Update(func(n int) int { return n + 1 })
			}
		})
	}
	wg.Wait()
	if got := c.Get(); got != 200 {
		t.Errorf("%d, want 200", got)
	}
}
