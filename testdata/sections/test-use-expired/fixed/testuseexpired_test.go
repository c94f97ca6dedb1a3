package testuseexpired

import (
	"sync"
	"testing"
)

func TestValid(t *testing.T) {
	for range 50 {
		l := New()
		l.Renew("x", 1)
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() { l.Valid("x", 2) })
		}
		wg.Go(func() { l.Renew("x", 9) })
		wg.Wait()
		if !l.Valid("x", 2) {
			t.Error("the lease was renewed, and is gone")
		}
	}
}
