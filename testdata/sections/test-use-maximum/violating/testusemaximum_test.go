package testusemaximum

import (
	"sync"
	"testing"
)

func TestSee(t *testing.T) {
	for range 50 {
		var p Peak
		var wg sync.WaitGroup
		for n := range int64(4) {
			wg.Go(func() { p.See(n + 1) })
		}
		wg.Wait()
		if got := p.Max(); got != 4 {
			t.Errorf("maximum %d, want 4", got)
		}
	}
}
