package loadstoreunlocked

import (
	"sync"
	"testing"
)

func TestAdd(t *testing.T) {
	var m Meter
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 50 {
				m.Add("x", 1)
			}
		})
	}
	wg.Wait()
	if got := m.Total(); got != 200 {
		t.Errorf("total %d, want 200", got)
	}
}
