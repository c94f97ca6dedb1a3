// Package loadstoregoroutines has an update in goroutines that a loop starts. IL2001.
package loadstoregoroutines

import "sync"

type result struct {
	n int
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
				n := r.n    // want IL2001 entry
				r.n = n + 1 // want IL2001 end
			}
		}()
	}
	wg.Wait()
	return r.n
}
