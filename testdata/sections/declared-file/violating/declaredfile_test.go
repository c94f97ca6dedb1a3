package declaredfile

import (
	"sync"
	"testing"
)

func TestAt(t *testing.T) {
	var p Point
	var wg sync.WaitGroup
	wg.Go(func() {
		for range 200 {
			p.Move(1)
		}
	})
	wg.Go(func() {
		for range 200 {
			if x, y := p.At(); x != y {
				t.Errorf("(%d, %d) is not on the diagonal", x, y)
			}
		}
	})
	wg.Wait()
}
