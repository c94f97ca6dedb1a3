package testuserelease

import (
	"sync"
	"testing"
)

func TestClose(t *testing.T) {
	for range 50 {
		h := &Handle{}
		o := New(h)
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(o.Close)
		}
		wg.Wait()
		if h.returned != 1 {
			t.Errorf("given back %d times", h.returned)
		}
	}
}
