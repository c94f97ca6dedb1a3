package testusestarted

import (
	"sync"
	"testing"
)

func TestStart(t *testing.T) {
	for range 50 {
		s := New(4)
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(s.Start)
		}
		wg.Wait()
		if got := s.Starts(); got != 1 {
			t.Errorf("started %d times", got)
		}
	}
}
