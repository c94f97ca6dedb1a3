// Package bounds: a branch by a value that never changes orders nothing.
package bounds

import "sync"

var (
	mu sync.Mutex
	m  = map[string]int{}
)

func get(k string) int {
	mu.Lock()
	defer mu.Unlock()
	return m[k]
}

func Many(keys []string) {
	each := 5
	var k string
	var wg sync.WaitGroup
	wg.Add(len(keys))
	for _, k = range keys {
		go func() {
			defer wg.Done()
			for j := 0; j < each; j++ {
				get(k) // want `variable k is shared with the goroutine that captures it`
			}
		}()
	}
	wg.Wait()
}

// Verbose asks a variable that is set once.
func Verbose(list []string) (n int) {
	verbose := len(list) > 3
	var wg sync.WaitGroup
	wg.Add(1)
	go func() {
		defer wg.Done()
		if verbose {
			n++ // want `variable n is shared with the goroutine that captures it`
		}
	}()
	n = 1
	wg.Wait()
	return n
}

// Own declares a variable in each goroutine.
func Own(keys []string) {
	each := 5
	var wg sync.WaitGroup
	for _, k := range keys {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for j := 0; j < each; j++ {
				get(k) // ok
			}
		}()
	}
	wg.Wait()
}

// Flagged uses the variable itself where no goroutine runs.
func Flagged(keys []string) (n int) {
	running := false
	var wg sync.WaitGroup
	if len(keys) > 3 {
		running = true
		wg.Add(1)
		go func() {
			defer wg.Done()
			if running {
				n++ // ok: the flag says that the goroutine does it
			}
		}()
	}
	if !running {
		n++
	}
	wg.Wait()
	return n
}

// Waited is ordered otherwise.
func Waited(keys []string) (n int) {
	each := 5
	done := make(chan bool)
	go func() {
		for range each {
			n++ // ok
		}
		close(done)
	}()
	<-done
	n++
	return n
}
