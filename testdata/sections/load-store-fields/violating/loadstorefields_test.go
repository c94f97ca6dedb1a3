package loadstorefields

import (
	"sync"
	"testing"
)

func TestWiden(t *testing.T) {
	var s Span
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 50 {
				s.Widen(1)
			}
		})
	}
	wg.Wait()
	if got := s.Width(); got != 400 {
		t.Errorf("width %d, want 400", got)
	}
}
