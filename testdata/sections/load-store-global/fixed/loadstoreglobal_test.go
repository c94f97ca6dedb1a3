package loadstoreglobal

import (
	"sync"
	"testing"
)

func TestReserve(t *testing.T) {
	var taken sync.Map
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 50 {
				first := Reserve(2)
				if _, twice := taken.LoadOrStore(first, true); twice {
					t.Errorf("%d was given twice", first)
				}
			}
		})
	}
	wg.Wait()
}
