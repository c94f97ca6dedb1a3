package loadstoreatomic

import (
	"sync"
	"testing"
)

func TestAdd(t *testing.T) {
	var a Average
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 50 {
				a.Add(3)
			}
		})
	}
	wg.Wait()
	if a.Sum() != 3*a.Count() {
		t.Errorf("sum %d of %d samples of 3", a.Sum(), a.Count())
	}
}
