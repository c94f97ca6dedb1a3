package phases

import (
	"sync"
	"testing"
)

func parallel(n int, f func()) {
	var wg sync.WaitGroup
	for range n {
		wg.Add(1)
		go func() {
			defer wg.Done()
			f()
		}()
	}
	wg.Wait()
}

func TestSum(t *testing.T) {
	s := &sum{}
	parallel(4, func() { s.add() })
	s.double()
	parallel(4, func() { s.add() })
	if s.n != 12 {
		t.Fatal(s.n)
	}
}
