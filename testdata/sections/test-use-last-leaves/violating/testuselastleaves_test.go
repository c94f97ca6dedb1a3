package testuselastleaves

import (
	"sync"
	"testing"
)

func TestLeave(t *testing.T) {
	for range 50 {
		h := New()
		h.Join("x", 0)
		var wg sync.WaitGroup
		wg.Go(func() { h.Leave("x", 0) })
		for id := range 3 {
			wg.Go(func() { h.Join("x", id+1) })
		}
		wg.Wait()
		if got := h.Members("x"); got != 3 {
			t.Errorf("%d members, want 3", got)
		}
	}
}
