// Command sampling has a thousand data races, each of two goroutines that make one access each.
package main

import "sync"

func main() {
	for range [1000]int{} {
		x := new(int)
		var done sync.WaitGroup
		done.Add(2)
		go func() { *x = 1; done.Done() }()
		go func() { *x = 2; done.Done() }()
		done.Wait()
	}
}
