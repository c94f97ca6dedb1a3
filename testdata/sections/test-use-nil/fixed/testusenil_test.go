package testusenil

import (
	"sync"
	"testing"
)

func TestUp(t *testing.T) {
	var l Line
	var wg sync.WaitGroup
	wg.Go(func() {
		for range 100 {
			l.Connect()
			l.Hangup()
		}
	})
	for range 3 {
		wg.Go(func() {
			defer func() {
				if v := recover(); v != nil {
					t.Errorf("panic: %v", v)
				}
			}()
			for range 100 {
				l.Up()
			}
		})
	}
	wg.Wait()
}
