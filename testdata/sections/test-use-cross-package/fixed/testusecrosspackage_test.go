package testusecrosspackage

import (
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
)

func TestSubmit(t *testing.T) {
	q := New()
	var taken atomic.Int64
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for i := range 50 {
				if q.Submit(strconv.Itoa(i)) {
					taken.Add(1)
				}
			}
		})
	}
	wg.Wait()
	if got := taken.Load(); got != 50 {
		t.Errorf("%d jobs taken, want 50", got)
	}
}
