package testuselimit

import (
	"sync"
	"testing"
)

func TestEnter(t *testing.T) {
	l := New(2)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 100 {
				if now, ok := l.Enter(); ok {
					if now > 2 {
						t.Errorf("%d are in, at most 2 may be", now)
					}
					l.Leave()
				}
			}
		})
	}
	wg.Wait()
}
