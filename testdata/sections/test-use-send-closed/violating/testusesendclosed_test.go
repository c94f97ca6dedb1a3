package testusesendclosed

import (
	"sync"
	"testing"
)

func TestSend(t *testing.T) {
	for range 50 {
		f := New(100)
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() {
				defer func() {
					if v := recover(); v != nil {
						t.Errorf("panic: %v", v)
					}
				}()
				for i := 0; i < 20 && f.Send(i); i++ {
				}
			})
		}
		wg.Go(f.Close)
		wg.Wait()
	}
}
