package testusegetorcreate

import (
	"strconv"
	"sync"
	"testing"
)

func TestGet(t *testing.T) {
	c := New()
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for i := range 50 {
				c.Get(strconv.Itoa(i)).Add(1)
			}
		})
	}
	wg.Wait()
	for i := range 50 {
		if got := c.Get(strconv.Itoa(i)).n; got != 4 {
			t.Errorf("counter %d: %d, want 4", i, got)
		}
	}
}
