// Command memory accesses 64 MB, which four goroutines then read at once, and has one race at its end.
package main

import (
	"fmt"
	"os"
	"strings"
	"sync"
)

type node struct {
	next *node
	n    [14]uint64
}

func main() {
	const chunks, words = 64, 1 << 17
	all := make([][]uint64, chunks)
	for i := range all {
		all[i] = make([]uint64, words)
		for j := range all[i] {
			all[i][j] = uint64(j)
		}
	}
	// Ordered: written before the goroutines start, read by all of them, written after they have ended. What
	// they allocate on the way takes the place of what others have let go.
	var readers sync.WaitGroup
	for range [4]int{} {
		readers.Add(1)
		go func() {
			defer readers.Done()
			var list *node
			for i, c := range all {
				for j := range c {
					if c[j] != uint64(j) {
						panic("wrong")
					}
					if j%64 == 0 {
						list = &node{next: list}
						list.n[j%14] = uint64(j)
					}
				}
				if i%4 == 0 {
					list = nil
				}
			}
		}()
	}
	readers.Wait()
	for _, c := range all {
		for j := range c {
			c[j] = 0
		}
	}
	// Not ordered.
	x, done := new(int), make(chan bool)
	go func() { *x = 1; done <- true }()
	*x = 2
	<-done
	status, _ := os.ReadFile("/proc/self/status")
	for _, line := range strings.Split(string(status), "\n") {
		if strings.HasPrefix(line, "VmHWM:") {
			fmt.Println(line)
		}
	}
}
