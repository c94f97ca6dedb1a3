package testusegenericstack

import (
	"sync"
	"testing"
)

func TestTryPop(t *testing.T) {
	for range 20 {
		var s Stack[int]
		for i := range 20 {
			s.Push(i)
		}
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() {
				defer func() {
					if v := recover(); v != nil {
						t.Errorf("panic: %v", v)
					}
				}()
				for ok := true; ok; {
					_, ok = s.TryPop()
				}
			})
		}
		wg.Wait()
	}
}
