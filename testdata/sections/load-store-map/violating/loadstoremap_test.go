package loadstoremap

import (
	"sync"
	"testing"
)

func TestDeliver(t *testing.T) {
	s := NewStock()
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 50 {
				s.Deliver("nut", 1)
			}
		})
	}
	wg.Wait()
	if got := s.Pieces("nut"); got != 2400 {
		t.Errorf("%d pieces, want 2400", got)
	}
}
