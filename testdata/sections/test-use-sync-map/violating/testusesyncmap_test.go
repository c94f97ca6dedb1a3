package testusesyncmap

import (
	"strconv"
	"sync"
	"testing"
)

func TestHit(t *testing.T) {
	var p Pages
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for i := range 50 {
				p.Hit(strconv.Itoa(i))
			}
		})
	}
	wg.Wait()
	for i := range 50 {
		if got := p.Hits(strconv.Itoa(i)); got != 4 {
			t.Errorf("page %d: %d hits, want 4", i, got)
		}
	}
}
