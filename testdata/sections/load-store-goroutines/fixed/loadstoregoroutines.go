// Package loadstoregoroutines has it mended: an atomic counter.
package loadstoregoroutines

import (
	"sync"
	"sync/atomic"
)

type result struct {
	n atomic.Int64
}

// Count adds up the lengths of the parts, each in a goroutine of its own.
func Count(parts [][]int) int {
	r := new(result)
	var wg sync.WaitGroup
	for _, p := range parts {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for range p {
				r.n.Add(1)
			}
		}()
	}
	wg.Wait()
	return int(r.n.Load())
}
