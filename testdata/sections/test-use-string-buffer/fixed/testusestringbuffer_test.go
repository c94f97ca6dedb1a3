package testusestringbuffer

import (
	"sync"
	"testing"
)

func TestAppend(t *testing.T) {
	b, o := New(""), New("text")
	var wg sync.WaitGroup
	wg.Go(func() {
		for range 100 {
			o.Truncate()
			o.Set("text")
		}
	})
	for range 2 {
		wg.Go(func() {
			defer func() {
				if v := recover(); v != nil {
					t.Errorf("panic: %v", v)
				}
			}()
			for range 100 {
				b.Append(o)
			}
		})
	}
	wg.Wait()
	if n := b.Len(); n%4 != 0 {
		t.Errorf("%d bytes appended, which is no multiple of 4", n)
	}
}
