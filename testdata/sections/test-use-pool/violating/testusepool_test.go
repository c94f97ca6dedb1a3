package testusepool

import (
	"sync"
	"testing"
)

func TestGet(t *testing.T) {
	for range 50 {
		p := New(2)
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				if c := p.Get(); c != nil {
					p.Put(c)
				}
			})
		}
		wg.Wait()
		if got := p.Open(); got > 2 {
			t.Errorf("%d connections, at most 2 may be open", got)
		}
	}
}
