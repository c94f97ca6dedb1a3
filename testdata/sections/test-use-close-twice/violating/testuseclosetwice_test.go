package testuseclosetwice

import (
	"sync"
	"testing"
)

func TestGive(t *testing.T) {
	for range 50 {
		s := New()
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() {
				defer func() {
					if v := recover(); v != nil {
						t.Errorf("panic: %v", v)
					}
				}()
				s.Give()
			})
		}
		wg.Wait()
		s.Wait()
	}
}
