// Server has small programs in the manner of servers, each with one race, and a twin without. It runs one of them for a
// time: server NAME racy|clean DURATION.
package main

import (
	"fmt"
	"os"
	"sync"
	"time"
)

// program is one program: start makes its state, and returns the handlers of its requests. The handlers run in a
// goroutine each, again and again.
type program struct {
	name  string
	start func(racy bool) []func(n int)
}

// load is the work that each request does beside, under a lock of its own goroutine: it releases often, as servers do.
type load struct {
	mu  sync.Mutex
	sum [64]int
}

//go:noinline
func (l *load) work(n int) int {
	total := 0
	for round := range 20 {
		l.mu.Lock()
		for i := range l.sum {
			l.sum[i] += n ^ round
			total += l.sum[i]
		}
		l.mu.Unlock()
	}
	return total
}

func main() {
	if len(os.Args) == 2 && os.Args[1] == "list" {
		for _, p := range programs {
			fmt.Println(p.name)
		}
		return
	}
	d, err := time.ParseDuration(os.Args[3])
	if err != nil {
		panic(err)
	}
	for _, p := range append(programs, program{"all", everyMeans}) {
		if p.name == os.Args[1] {
			serve(p.start(os.Args[2] == "racy"), d)
			fmt.Println("served", p.name)
			return
		}
	}
	panic("no program " + os.Args[1])
}

// serve runs the handlers, two goroutines each, until the time is over.
func serve(handlers []func(int), d time.Duration) {
	end := time.Now().Add(d)
	var all sync.WaitGroup
	for i := range max(4, len(handlers)) {
		handle := handlers[i%len(handlers)]
		all.Go(func() {
			var own load
			for n := 0; time.Now().Before(end); n++ {
				own.work(n)
				handle(n)
			}
		})
	}
	all.Wait()
}
