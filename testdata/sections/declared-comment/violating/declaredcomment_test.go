package declaredcomment

import (
	"sync"
	"testing"
)

func TestRead(t *testing.T) {
	var c Clock
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := range 200 {
			c.Set(i%24, i%24)
		}
	})
	wg.Go(func() {
		for range 200 {
			if h, m := c.Read(); h != m {
				t.Errorf("%d:%d was never set", h, m)
			}
		}
	})
	wg.Wait()
}
