package loadstorecallee

import (
	"sync"
	"testing"
)

func TestRaise(t *testing.T) {
	var l Level
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 50 {
				l.Raise(2)
			}
		})
	}
	wg.Wait()
	if got := l.Now(); got != 400 {
		t.Errorf("level %d, want 400", got)
	}
}
