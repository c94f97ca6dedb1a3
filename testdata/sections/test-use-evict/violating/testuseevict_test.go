package testuseevict

import (
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
)

func TestRemove(t *testing.T) {
	var told atomic.Int64
	c := New(func(string) { told.Add(1) })
	for i := range 50 {
		c.Set(strconv.Itoa(i), i)
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for i := range 50 {
				c.Remove(strconv.Itoa(i))
			}
		})
	}
	wg.Wait()
	if got := told.Load(); got != 50 {
		t.Errorf("told %d times of 50 entries", got)
	}
}
