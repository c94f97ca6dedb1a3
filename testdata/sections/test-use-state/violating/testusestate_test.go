package testusestate

import (
	"sync"
	"testing"
)

func TestRun(t *testing.T) {
	for range 50 {
		m := New(4)
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() { m.Run("x") })
		}
		wg.Wait()
		if got := len(m.runs); got != 1 {
			t.Errorf("%d programs run at a time", got)
		}
		m.Stop()
	}
}
