package main

import (
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"interlock.invalid/rt"
)

func init() {
	// What is added while more is to do may come at the same time as Wait.
	programs["cleanAddAbove"] = func() {
		wg := new(sync.WaitGroup)
		for range 20 {
			rt.GAW(wg, 1).Add(1)
			go func() {
				defer wg.Done()
				for range 3 {
					rt.GAW(wg, 1).Add(1)
					wg.Done()
				}
			}()
			rt.GR(wg, 2).Wait()
		}
	}

	// The close comes behind what was received.
	programs["cleanCloseBehind"] = func() {
		for range 20 {
			ch := make(chan int)
			go func() { rt.CR(ch, 1) <- 1; rt.CR(ch, 1) <- 2 }()
			<-ch
			<-ch
			close(rt.CW(ch, 2))
		}
	}

	programs["cleanMutex"] = func() {
		var mu sync.Mutex
		add := func() {
			for i := 0; i < 200; i++ {
				mu.Lock()
				*rt.W(&x, 1)++
				mu.Unlock()
			}
		}
		both(add, add)
	}

	programs["cleanChannel"] = func() {
		c := make(chan *[4]int)
		both(
			func() {
				for i := 0; i < 100; i++ {
					p := new([4]int)
					*rt.W(&p[1], 1) = i
					c <- p
				}
				close(c)
			},
			func() {
				for p := range c {
					x += *rt.R(&p[1], 2)
				}
			})
	}

	programs["cleanAtomicFlag"] = func() {
		var done atomic.Bool
		both(
			func() { *rt.W(&x, 1) = 7; done.Store(true) },
			func() {
				for !done.Load() {
					runtime.Gosched()
				}
				_ = *rt.R(&x, 2)
			})
	}

	programs["cleanAtomics"] = func() {
		n := new(atomic.Int64)
		keep = n
		add := func() {
			for i := 0; i < 200; i++ {
				rt.AW(n, 1).Add(1)
				_ = rt.AR(n, 2).Load()
			}
		}
		both(add, add)
	}

	// An atomic loads, as plain reads do.
	programs["cleanAtomicRead"] = func() {
		n := new(int64)
		keep = n
		both(
			func() { _ = atomic.LoadInt64(rt.AR(n, 1)) },
			func() { _ = *rt.R(n, 2) })
	}

	programs["cleanSliceParts"] = func() {
		s := make([]int, 200)
		keep = s
		part := func(id uint32, s []int) func() {
			return func() {
				for i := 0; i < 100; i++ {
					clear(rt.WS(s, id))
					copy(rt.WS(s[1:], id+1), rt.RS(s, id+2))
				}
			}
		}
		both(part(1, s[:100]), part(4, s[100:]))
	}

	// An append with room writes behind the end; one that grows only reads.
	programs["cleanAppend"] = func() {
		s := make([]int, 10, 20)
		keep = s
		both(
			func() { *rt.W(&s[5], 1) = 1 },
			func() { _ = append(rt.WA(s, 1, 2), 1) })
		full := make([]int, 10)
		grow := func() { _ = append(rt.WA(full, 1, 3), 1) }
		both(grow, grow)
	}

	programs["cleanWaitGroup"] = func() {
		s := new([8]int)
		keep = s
		both(
			func() { *rt.W(&s[0], 1) = 1 },
			func() { *rt.W(&s[1], 3) = 1 })
		x = *rt.R(&s[0], 2) + *rt.R(&s[1], 4)
	}

	programs["cleanOnce"] = func() {
		var once sync.Once
		get := func() {
			once.Do(func() { *rt.W(&config, 1) = &struct{ a, b int }{1, 2} })
			_ = *rt.R(&config, 2)
		}
		both(get, get)
	}

	programs["cleanRWMutex"] = func() {
		var mu sync.RWMutex
		m := map[int]int{}
		keep = m
		read := func() {
			for i := 0; i < 100; i++ {
				mu.RLock()
				_ = rt.MR(m, 2)[1]
				mu.RUnlock()
			}
		}
		go func() {
			for i := 0; i < 20; i++ {
				mu.Lock()
				rt.MW(m, 1)[i] = i
				mu.Unlock()
			}
		}()
		both(read, read)
	}

	// Goroutines that follow one another get the same stack memory, the same
	// g, and often the same object addresses.
	programs["cleanReuse"] = func() {
		for i := 0; i < 2000; i++ {
			done := make(chan bool)
			go func() {
				local := [4]int{}
				*rt.W(&local[0], 1)++
				p := new([16]int)
				*rt.W(&p[3], 2)++
				keep = p
				close(done)
			}()
			<-done
			if i%100 == 0 {
				runtime.GC()
			}
		}
	}

	// Objects that nobody holds but the monitor's caller, of one size, while the
	// collector runs all the time.
	programs["cleanDropped"] = func() {
		debug.SetGCPercent(1)
		drop := func() {
			for i := 0; i < 3000; i++ {
				p := new([4]int)
				dropped = p
				dropped = nil
				*rt.W(&p[i%4], 1)++
			}
		}
		both(drop, drop)
	}

	// Stacks grow and move while windows are held.
	programs["cleanStacks"] = func() {
		var wg sync.WaitGroup
		for i := 0; i < 50; i++ {
			wg.Add(1)
			go func() {
				defer wg.Done()
				deep(60)
			}()
		}
		runtime.GC()
		wg.Wait()
	}

	programs["cleanManyGoroutines"] = func() {
		const many = 100_000
		s := make([]int, many)
		keep = s
		var wg sync.WaitGroup
		start := make(chan bool)
		for i := 0; i < many; i++ {
			wg.Add(1)
			go func(i int) {
				defer wg.Done()
				<-start
				*rt.W(&s[i], 1)++
			}(i)
		}
		close(start)
		wg.Wait()
	}

	// Many sites that run once, and work beside them.
	programs["cleanManySites"] = func() {
		s := new([1000]int)
		keep = s
		both(
			func() {
				for i := range s {
					*rt.W(&s[i], uint32(1+i))++
					busy(100 * time.Microsecond)
				}
			},
			func() { busy(100 * time.Millisecond) })
	}

	programs["cleanChild"] = func() {
		for i := 0; i < 2; i++ {
			if err := exec.Command(os.Args[0], "cleanMutex").Run(); err != nil {
				panic(err)
			}
		}
	}

	// The goroutine count is the program's own, but for the moments in which
	// a timer opens the filter.
	programs["cleanCount"] = func() {
		before := runtime.NumGoroutine()
		polls, others := 0, 0
		for t := time.Now(); time.Since(t) < 50*time.Millisecond; polls++ {
			*rt.W(&x, 1)++
			if runtime.NumGoroutine() != before {
				others++
			}
		}
		if others*2 > polls { // where it is starved, the timer's goroutine may take its time
			os.Stdout.WriteString("a goroutine of the monitor stays\n")
			os.Exit(1)
		}
	}

	programs["cleanAllocs"] = func() {
		s := new([16]int)
		keep = s
		stop := make(chan bool)
		go func() { <-stop }()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for i := 0; i < 100_000; i++ {
			*rt.W(&s[i%16], uint32(1+i%1000))++
		}
		runtime.ReadMemStats(&after)
		if n := after.Mallocs - before.Mallocs; n > 20 { // the timer, and what the runtime itself does
			os.Stdout.WriteString("the monitor allocates\n")
			os.Exit(1)
		}
		close(stop)
	}

	// The runtime must still see that nobody can go on.
	programs["cleanDeadlock"] = func() {
		for i := 0; i < 1_000_000; i++ {
			*rt.W(&x, 1)++
		}
		<-make(chan bool)
	}

	programs["cleanExit"] = func() {
		for i := 0; i < 1000; i++ {
			*rt.W(&x, 1)++
		}
		os.Exit(3)
	}
}

// dropped puts objects on the heap. Races on it are not monitored.
var dropped *[4]int

func deep(n int) int {
	local := [8]int{n}
	*rt.W(&local[n%8], 3)++
	if n > 0 {
		d := deep(n - 1)
		*rt.W(&local[1], 4) = d
	}
	return local[1]
}
