package testusecapacity

import (
	"fmt"
	"sync"
	"testing"
)

func TestEnter(t *testing.T) {
	for range 20 {
		r := New(10)
		var wg sync.WaitGroup
		for g := range 4 {
			wg.Go(func() {
				for i := range 10 {
					r.Enter(fmt.Sprint(g, i))
				}
			})
		}
		wg.Wait()
		if got := r.Len(); got > 10 {
			t.Errorf("%d guests in a room for 10", got)
		}
	}
}
