package testuselazy

import (
	"sync"
	"testing"
)

func TestDo(t *testing.T) {
	for range 50 {
		var c Client
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(c.Do)
		}
		wg.Wait()
		if lost := c.Lost(); lost != 0 {
			t.Errorf("%d uses lost", lost)
		}
	}
}
