package testusestringbuffer

import (
	"sync"
	"testing"
)

func TestAppend(t *testing.T) {
	for range 50 {
		b, o := New(""), New("text")
		var wg sync.WaitGroup
		wg.Go(func() {
			defer func() {
				if v := recover(); v != nil {
					t.Errorf("panic: %v", v)
				}
			}()
			b.Append(o)
		})
		wg.Go(o.Truncate)
		wg.Wait()
		if n := b.Len(); n != 0 && n != 4 {
			t.Errorf("%d bytes appended", n)
		}
	}
}
