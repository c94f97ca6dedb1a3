package testuseinterface

import (
	"strconv"
	"sync"
	"testing"
)

func TestJoin(t *testing.T) {
	c := New()
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for i := range 50 {
				c.Join(strconv.Itoa(i))
			}
		})
	}
	wg.Wait()
	for i := range 50 {
		if got := c.Members(strconv.Itoa(i)); got != 4 {
			t.Errorf("room %d has %d members, want 4", i, got)
		}
	}
}
