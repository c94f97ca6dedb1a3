package buffer

import (
	"sync"
	"testing"
)

func TestAppend(t *testing.T) {
	for range 100 {
		var a, b Buffer
		b.Write([]byte("some text"))
		var wg sync.WaitGroup
		wg.Add(2)
		go func() {
			defer wg.Done()
			b.Truncate(0)
		}()
		go func() {
			defer wg.Done()
			a.Append(&b)
		}()
		wg.Wait()
		if n := a.Len(); n != 0 && n != len("some text") {
			t.Fatalf("%d bytes", n)
		}
	}
}
