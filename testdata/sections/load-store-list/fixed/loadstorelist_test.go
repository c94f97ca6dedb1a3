package loadstorelist

import (
	"sync"
	"testing"
)

func TestAdd(t *testing.T) {
	var h Hooks
	var wg sync.WaitGroup
	n := 0
	for range 4 {
		wg.Go(func() {
			for range 25 {
				h.Add(func() { n++ })
			}
		})
	}
	wg.Wait()
	h.Run()
	if n != 100 {
		t.Errorf("%d hooks, want 100", n)
	}
}
