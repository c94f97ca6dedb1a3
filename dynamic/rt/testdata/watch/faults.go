package main

import (
	"log"
	"os"
	"os/exec"
	"runtime/debug"
	"sync"

	"interlock.invalid/rt"
)

// The programs whose names begin with "fault" race as raceCounter does, and
// then end in a way that leaves the monitor no time.
func init() {
	fault := func(name string, end func()) {
		programs["fault"+name] = func() {
			programs["raceCounter"]()
			end()
		}
	}
	fault("Exit", func() { os.Exit(7) })
	fault("Fatal", func() { log.Fatal("fatal") })
	fault("Panic", func() { panic("panic") })
	fault("StackOverflow", func() {
		debug.SetMaxStack(1 << 20)
		overflow(1)
	})

	// Both sides write the map until the runtime notices.
	programs["faultMapWrites"] = func() {
		m := map[int]int{}
		keep = m
		write := func() {
			for i := 0; ; i++ {
				rt.MW(m, 1)[i%100] = i
			}
		}
		both(write, write)
	}

	// A test that starts its own binary again and again, several at a time.
	programs["faultChildren"] = func() {
		const children = 300
		var wg sync.WaitGroup
		next := make(chan bool)
		for i := 0; i < 8; i++ {
			wg.Add(1)
			go func() {
				defer wg.Done()
				for range next {
					if err := exec.Command(os.Args[0], "cleanWaitGroup").Run(); err != nil {
						panic(err)
					}
				}
			}()
		}
		for i := 0; i < children; i++ {
			next <- true
		}
		close(next)
		wg.Wait()
	}
}

func overflow(n int) int {
	*rt.W(&x, 3)++
	return overflow(n+1) + 1
}
